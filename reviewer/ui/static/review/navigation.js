// Opening items: the one requested or linked, the next, the previous; the lease and the drafts follow, and what is
// likely to be opened next is fetched ahead.

import { getJSON } from '../common/http.js'
import { painted, pause } from '../common/idle.js'
import { t } from '../common/language.js'
import { linkToOpen, setNoItem, takeBatch } from '../common/links.js'
import { changeBetween } from './changes.js'
import { picturesOf } from './items.js'

const SETTLE = 120 // ms that an item fetched ahead has to stay before it is compared with the server: next may be held

/** @typedef {import('../common/links.js').ItemLink} ItemLink */

export class Navigation {
  #ticket = 0 // of the last item opened: only that one is drawn
  #filtered = 0 // how often the filter has changed
  #abort = new AbortController() // aborted when another item is opened

  /**
   * @param {{state: import('./state.js').ReviewState, items: import('./items.js').Items,
   *   queue: import('./queue.js').Queue, order: import('./value_order.js').ValueOrder,
   *   lease: import('./lease.js').Lease, recovery: import('./recovery.js').Recovery,
   *   linked: import('./linked.js').Linked, notices: import('../common/notices.js').Notices}} parts
   */
  constructor({ state, items, queue, order, lease, recovery, linked, notices }) {
    this.state = state
    this.items = items
    this.queue = queue
    this.order = order
    this.lease = lease
    this.recovery = recovery
    this.linked = linked
    this.notices = notices
    const report = (/** @type {unknown} */ error) => notices.error(error)
    state.on('filter', () => this.#refilter().catch(report))
    state.on('outdated', ({ item }) => this.#refreshOutdated(item).catch(report))
    state.on('verdict-first', () => {
      queue.load().catch(report)
      if (state.item) this.open(state.item.id).catch(report)
    })
  }

  /**
   * Open the item of the address, the first one of its batch, or else the first one waiting; not if another is opened
   * while this is found out.
   */
  async start() {
    const batch = takeBatch()
    if (batch !== null) return this.showFilter({ batch })
    const ticket = this.#ticket
    const link = linkToOpen()
    const [waiting] = await Promise.all([link?.item ?? this.#first(), this.queue.load()])
    if (ticket === this.#ticket) await this.#openOrFirst(waiting, link)
  }

  /** Open an item, or else the first one of the list. @param {number | null} [id] @param {ItemLink | null} [link] */
  async #openOrFirst(id, link) {
    const first = id ?? this.queue.rows.find((row) => !row.blind)?.id
    if (first) await this.open(first, { link })
    else this.#nothing()
  }

  /**
   * @param {number} id
   * @param {{link?: ItemLink | null, brought?: LoadedItem | null}} [options] `link`: what else to show of it;
   *   `brought`: the item as an answer has just brought it
   */
  async open(id, { link = null, brought = null } = {}) {
    const ticket = ++this.#ticket
    this.#abort.abort()
    this.#abort = new AbortController()
    const lease = this.leave()
    const fetchedAhead = brought === null && this.items.has(id)
    /** @type {string[]} */
    const ignored = []
    let loaded
    let reading
    try {
      loaded = brought ?? (await this.items.load(id))
      reading = await this.linked.versionOf(loaded.item, link?.version ?? null, ignored)
    } catch (error) {
      this.lease.release(lease)
      return this.notices.error(error)
    }
    if (ticket === this.#ticket) this.#draw(loaded, false, reading)
    // The person waits for the picture alone; every other request comes after it.
    await painted()
    const released = this.lease.release(lease)
    if (ticket !== this.#ticket) return
    this.linked.setAddress({ byAddress: link !== null })
    this.#afterPaint(ticket, loaded, fetchedAhead, released).catch((error) => this.notices.error(error))
    await this.linked.show(link, ignored, () => ticket === this.#ticket)
  }

  /** Show what a link names; of the item in front nothing is loaded again, and text stays. @param {ItemLink} link */
  async follow(link) {
    const { item } = this.state
    if (!item || item.id !== link.item) return this.open(link.item, { link })
    const ticket = this.#ticket
    return this.linked.follow(link, item, () => ticket === this.#ticket && this.state.isShown(item.id))
  }

  /**
   * @param {LoadedItem} loaded @param {boolean} refreshed whether it is the present state of the item shown
   * @param {Reading | null} [reading] an earlier version
   */
  #draw(loaded, refreshed, reading = null) {
    const sameItem = refreshed && this.state.isShown(loaded.item.id)
    this.state.setCurrent(loaded, sameItem, reading)
    this.recovery.begin(loaded.item, refreshed) // before "item": what is drawn is the draft
    this.state.dispatch('item', { sameItem })
  }

  /**
   * What follows once an item is painted. One that was fetched ahead is compared with the server first.
   * @param {number} ticket @param {LoadedItem} loaded @param {boolean} fetchedAhead @param {Promise<void>} released
   */
  async #afterPaint(ticket, loaded, fetchedAhead, released) {
    const { item } = loaded
    const { current } = this.state
    const { signal } = this.#abort
    const isShown = () => ticket === this.#ticket && this.state.isShown(item.id)
    if (!current) return
    // While a key is held down, only this is awaited.
    for (const soon of current.ahead.slice(0, 1)) this.items.load(soon).catch(() => {})
    this.queue.setCurrent(item.id, null)
    const noted = this.order.opened(item.id)
    this.#loadChecks(item, isShown)
    await released // it may be the lease of the same item
    let present = loaded
    if (fetchedAhead) {
      await pause(SETTLE)
      if (!isShown()) return
      present = await this.items.reload(item.id)
    }
    await noted
    if (!isShown()) return
    // Where the page itself has drawn a newer state meanwhile, this answer may be older.
    if (this.state.item === item && present.item.stamp !== item.stamp) {
      this.#redraw(present)
      this.#sayChange(item)
    }
    const { opening, query } = present
    this.state.arrive(opening)
    const place = await this.#placeOf(item.id, query === this.state.query ? opening.place : null)
    if (!isShown()) return
    this.state.setPlace(place)
    const likely = [...place.next.slice(0, 2), ...place.back, ...place.next.slice(2)]
    const { agent } = this.linked.view.spectrum.state // whether pictures are in front
    const pictures = (/** @type {Item} */ { row, trajectory }) => (agent || !row.spectrum ? picturesOf(trajectory) : [])
    await this.items.prefetch(likely, pictures, signal)
  }

  /** @param {Item} item @param {() => boolean} isShown */
  async #loadChecks(item, isShown) {
    if (item.hidden) return
    try {
      const checks = await this.items.checksOf(item)
      if (isShown()) this.state.dispatch('checks', checks)
    } catch (error) {
      this.notices.error(error)
    }
  }

  /** Draw the present state of the item shown. What is being typed stays. */
  async refresh() {
    const { item } = this.state
    if (!item) return
    this.items.drop(item.id)
    const loaded = await this.items.load(item.id)
    if (!this.state.isShown(item.id)) return
    this.#redraw(loaded)
    this.state.arrive(loaded.opening)
  }

  /** @param {LoadedItem} loaded the item shown */
  #redraw(loaded) {
    this.#draw(loaded, true)
    this.#loadChecks(loaded.item, () => this.state.isShown(loaded.item.id))
  }

  /** Say what others did to the item shown. @param {Item} before */
  #sayChange(before) {
    const { item, me } = this.state
    if (item?.id === before.id) this.notices.toast(changeBetween(before, item, me.initials))
  }

  /** @param {Item} before */
  async #refreshOutdated(before) {
    await this.refresh()
    this.#sayChange(before)
  }

  /** Send what is typed and give up the lease; the caller releases it. */
  leave() {
    this.state.draft?.flush()
    return this.lease.leave()
  }

  /**
   * Open this item, or the next one under the filter.
   * @param {number | null} [id] @param {LoadedItem | null} [brought] the item as an answer has just brought it
   * @returns {Promise<void>}
   */
  async next(id = null, brought = null) {
    const { current } = this.state
    // The key was pressed before the server sent the next items. Request them; else the first waiting item would open.
    if (id === null && current && !current.place && !current.ahead.length)
      current.place = await this.#placeOf(current.item.id)
    const known = current?.place ? current.place.next[0] : current?.ahead[0]
    const to = id ?? known ?? (await this.#first())
    if (to && !this.state.isShown(to)) return this.open(to, { brought: brought?.item.id === to ? brought : null })
    await this.queue.load()
    if (!this.queue.rows.length) return this.#nothing()
    this.notices.toast(t('That was the last item under this filter.'))
    if (this.state.item) await this.open(this.state.item.id)
  }

  /** Open the next item that waits for this person; after the last one the first. */
  async nextUndone() {
    if (this.order.on) return this.next()
    const shown = this.state.item?.id
    const after = shown === undefined ? '' : `&after=${shown}`
    const next = await getJSON(`/api/v1/first?${this.state.query}${after}`)
    if (!next.id || next.id === shown)
      return this.notices.toast(shown === undefined ? t('Nothing waits for you.') : t('No other item waits for you.'))
    if (next.from_start) this.notices.toast(t('From the start of the queue.'))
    await this.open(next.id)
  }

  async back() {
    const { current } = this.state
    if (current) current.place ??= await this.#placeOf(current.item.id)
    const to = current?.place?.back[0]
    if (!to) return this.notices.toast(t('This is the first item under this filter.'))
    this.order.goBack(to)
    await this.open(to)
  }

  /** The filter has changed. */
  async #refilter() {
    const change = ++this.#filtered
    await this.queue.load()
    if (change !== this.#filtered) return
    const { current } = this.state
    if (!current) return this.start()
    const place = await this.#placeOf(current.item.id)
    if (change === this.#filtered && current === this.state.current) this.state.setPlace(place)
  }

  /** Show only the items of a filter, and open the first one. @param {Record<string, string>} filter */
  async showFilter(filter) {
    const ticket = this.#ticket
    this.queue.use(filter)
    await this.queue.load()
    if (ticket === this.#ticket) await this.#openOrFirst()
  }

  #nothing() {
    this.lease.release(this.leave())
    this.state.clear()
    setNoItem()
  }

  /**
   * The place of an item in the order that the person has chosen.
   * @param {number} id @param {Place | null} [known] its place by number @returns {Promise<Place>}
   */
  async #placeOf(id, known = null) {
    const byNumber = Promise.resolve(known ?? getJSON(`/api/v1/place/${id}?${this.state.query}`))
    try {
      if (this.order.on) return await this.order.place(id, byNumber)
    } catch (error) {
      this.notices.error(error)
    }
    return byNumber
  }

  /** @returns {Promise<number | null>} */
  async #first() {
    try {
      const chosen = this.order.on ? await this.order.next(null) : null
      if (chosen?.id) return chosen.id
    } catch (error) {
      this.notices.error(error)
    }
    return (await getJSON(`/api/v1/first?${this.state.query}`)).id
  }
}
