// Opening items: the one requested or linked, the next, the previous; the lease and the drafts follow, and what is
// likely to be opened next is fetched ahead.

import { getJSON } from '../common/http.js'
import { painted } from '../common/idle.js'
import { sentences, t } from '../common/language.js'
import { linkTo, linkToOpen, setAddress, setNoItem, takeBatch } from '../common/links.js'
import { comparedItem, picturesOf } from './items.js'

/**
 * @typedef {Object} NavigationOptions
 * @property {import('./state.js').ReviewState} state
 * @property {import('./items.js').Items} items
 * @property {import('./queue.js').Queue} queue
 * @property {import('./value_order.js').ValueOrder} order
 * @property {import('./lease.js').Lease} lease
 * @property {import('./editing.js').Editing} editing
 * @property {import('../common/notices.js').Notices} notices
 * @property {import('./item_view.js').ItemView} view
 * @property {(loaded: LoadedItem, sameItem: boolean, reading?: Reading | null) => void} draw
 * @property {(reading: Reading | null) => void} drawVersion draw an earlier version of the item; null: the current one
 * @property {() => void} drawNothing no item is left under the filter
 */

export class Navigation {
  #ticket = 0 // of the last item opened: only that one is drawn
  #filtered = 0 // how often the filter has changed
  #abort = new AbortController() // aborted when another item is opened
  #besideTicket = 0 // of the second trace chosen last

  /** @param {NavigationOptions} options */
  constructor({ state, items, queue, order, lease, editing, notices, view, draw, drawVersion, drawNothing }) {
    this.state = state
    this.items = items
    this.queue = queue
    this.order = order
    this.lease = lease
    this.editing = editing
    this.notices = notices
    this.view = view
    this.draw = draw
    this.drawVersion = drawVersion
    this.drawNothing = drawNothing
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
    if (ticket !== this.#ticket) return
    const id = waiting ?? this.queue.rows.find((row) => !row.blind)?.id
    if (id) await this.open(id, link)
    else this.#nothing()
  }

  /**
   * @param {number} id
   * @param {import('../common/links.js').ItemLink | null} link what else to show of it
   */
  async open(id, link = null) {
    const ticket = ++this.#ticket
    this.#abort.abort()
    this.#abort = new AbortController()
    const lease = this.leave()
    /** @type {string[]} */
    const ignored = []
    let loaded
    let reading
    try {
      loaded = await this.items.load(id)
      reading = await this.#versionOf(loaded.item, link?.version ?? null, ignored)
    } catch (error) {
      this.lease.release(lease)
      this.notices.error(error)
      return
    }
    if (ticket === this.#ticket) this.draw(loaded, false, reading)
    // The person waits for the picture alone; every other request comes after it.
    await painted()
    const released = this.lease.release(lease)
    if (ticket !== this.#ticket) return
    this.#setAddress({ byAddress: link !== null })
    this.#afterPaint(ticket, loaded.item, released).catch((error) => this.notices.error(error))
    await this.#showLinked(link, ignored, () => ticket === this.#ticket)
  }

  /**
   * Show what a link names. Where its item is shown already, nothing is loaded again and what is being typed stays.
   * @param {import('../common/links.js').ItemLink} link
   */
  async follow(link) {
    const { item } = this.state
    if (!item || item.id !== link.item) return this.open(link.item, link)
    const ticket = this.#ticket
    /** @type {string[]} */
    const ignored = []
    const reading = await this.#versionOf(item, link.version, ignored)
    if (ticket !== this.#ticket || !this.state.isShown(item.id)) return
    if (!link.beside) this.view.beside.close()
    this.#read(reading)
    await this.#showLinked(link, ignored, () => ticket === this.#ticket)
  }

  /** Show the current version again, after an earlier one. */
  readCurrent() {
    this.#read(null)
  }

  /** @param {Reading | null} reading */
  #read(reading) {
    if (reading?.number !== this.state.reading?.number) this.drawVersion(reading)
    this.#setAddress()
  }

  /**
   * Show another trace of the spectrum next to the one in front.
   * @param {number} id @param {() => boolean} [isWanted] whether the person still waits for it
   * @returns {Promise<string>} why it cannot be shown; "": it is
   */
  async openBeside(id, isWanted = () => true) {
    const { item } = this.state
    if (!item) return ''
    if (item.hidden) return t('A second trace is shown once you have given your own verdict.')
    const ticket = ++this.#besideTicket
    try {
      const others = await this.items.others(item.id)
      if (!others.some((other) => other.id === id))
        return t('Item {other} is no trace of this spectrum that you may see, so it is not shown next to it.', {
          other: id,
        })
      const loaded = await this.items.load(id)
      if (ticket !== this.#besideTicket) return ''
      if (isWanted() && this.state.isShown(item.id) && !loaded.item.hidden) this.view.beside.open(comparedItem(loaded))
      this.#setAddress()
      return ''
    } catch (error) {
      return /** @type {Error} */ (error).message
    }
  }

  closeBeside() {
    this.view.beside.close()
    this.#setAddress()
  }

  /** The link to what is in front, from "#" on. */
  link() {
    const { item, reading } = this.state
    if (!item) return ''
    const { selected: step, beside } = this.view
    return linkTo({
      ...{ item: item.id, version: reading?.number ?? null, step },
      ...{ range: this.view.chosenRange(), beside: /** @type {number | undefined} */ (beside.shown?.key) ?? null },
    })
  }

  /** The address names what stays in front while the person works: item, version and second trace. */
  #setAddress({ byAddress = false } = {}) {
    const { item, reading } = this.state
    if (!item) return
    const beside = /** @type {number | undefined} */ (this.view.beside.shown?.key)
    setAddress(linkTo({ item: item.id, version: reading?.number ?? null, beside: beside ?? null }), { byAddress })
  }

  /**
   * The version that a link names; null for the current one, and where it cannot be shown.
   * @param {Item} item @param {number | null} number @param {string[]} ignored gets the reason
   * @returns {Promise<Reading | null>}
   */
  async #versionOf(item, number, ignored) {
    if (number === null || number === item.version.number) return null
    try {
      return await this.items.version(item.id, number)
    } catch (error) {
      ignored.push(/** @type {Error} */ (error).message)
      return null
    }
  }

  /**
   * Show second trace, step and range of a link; what cannot be shown is named in a notice.
   * @param {import('../common/links.js').ItemLink | null} link @param {string[]} ignored gets the reasons
   * @param {() => boolean} isWanted
   */
  async #showLinked(link, ignored, isWanted) {
    if (!link) return
    if (link.ignored.length)
      ignored.push(
        t('A part of the link cannot be read and was ignored: {parts}.', {
          parts: link.ignored.join(', ').slice(0, 80),
        }),
      )
    if (link.beside) ignored.push(await this.openBeside(link.beside, isWanted))
    if (!isWanted()) return
    if (link.step && !this.view.steps.some((step) => step.id === link.step))
      ignored.push(t('This version has no step {step}, which the link names.', { step: link.step }))
    else if (link.step) this.view.select(link.step)
    if (link.range) ignored.push(this.view.showRange(link.range))
    const told = sentences(...ignored)
    if (told) this.notices.show(told)
  }

  /** @param {number} ticket @param {Item} item @param {Promise<void>} released */
  async #afterPaint(ticket, item, released) {
    const { id } = item
    const { current } = this.state
    const { signal } = this.#abort
    const isShown = () => ticket === this.#ticket && this.state.isShown(id)
    if (!current) return
    // While a key is held down, only this is awaited.
    for (const soon of current.ahead.slice(0, 1)) this.items.load(soon).catch(() => {})
    this.#loadOthers(item, isShown).catch(() => {}) // the header shows none
    const place = this.order.opened(id).then(() => this.#placeOf(id))
    place.catch(() => {}) // reported where it is awaited
    this.queue.setCurrent(id, null)
    if (item.row.spectrum && !item.hidden) this.#loadHints(item, isShown).catch((error) => this.notices.error(error))
    await released // it may be the lease of the same item
    await this.lease.check(item, isShown)
    const found = await place
    if (!isShown() || !this.state.current) return
    this.state.current.place = found
    const { before, next, back } = found
    this.queue.setCurrent(id, before)
    this.queue.check().catch(() => {}) // the connection strip shows a server that is away
    const likely = [...next.slice(0, 2), ...back, ...next.slice(2)]
    await this.items.prefetch(likely, (other) => picturesOf(other.trajectory), signal)
  }

  /** @param {Item} item @param {() => boolean} isShown */
  async #loadOthers(item, isShown) {
    if (!item.row.spectrum || item.hidden) return
    const others = await this.items.others(item.id)
    if (!isShown() || !this.state.current || !others.length) return
    this.state.current.others = others
    this.view.drawHeader()
  }

  /** @param {Item} item @param {() => boolean} isShown */
  async #loadHints(item, isShown) {
    const hints = await this.items.hintsOf(item.id, item.stamp)
    if (isShown()) this.editing.setHints(hints)
  }

  /** Draw the present state of the item shown. What is being typed stays. */
  async refresh() {
    const { item } = this.state
    if (!item) return
    this.items.drop(item.id)
    const loaded = await this.items.load(item.id)
    if (!this.state.isShown(item.id)) return
    this.draw(loaded, true)
    if (loaded.item.row.spectrum && !loaded.item.hidden) {
      this.#loadHints(loaded.item, () => this.state.isShown(item.id)).catch((error) => this.notices.error(error))
    }
  }

  /** Send what is typed and give up the lease; the caller releases it. */
  leave() {
    this.state.draft?.flush()
    return this.lease.leave()
  }

  /** Open this item, or the next one under the filter. @param {number | null} id @returns {Promise<void>} */
  async next(id = null) {
    const { current } = this.state
    // The key was pressed before the server sent the next items. Request them; else the first waiting item would open.
    if (id === null && current && !current.place && !current.ahead.length) {
      current.place = await this.#placeOf(current.item.id)
    }
    const known = current?.place ? current.place.next[0] : current?.ahead[0]
    const to = id ?? known ?? (await this.#first())
    if (to && !this.state.isShown(to)) return this.open(to)
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
    const found = await getJSON(`/api/v1/first?${this.queue.query()}${after}`)
    if (!found.id || found.id === shown) {
      this.notices.toast(shown === undefined ? t('Nothing waits for you.') : t('No other item waits for you.'))
      return
    }
    if (found.from_start) this.notices.toast(t('From the start of the queue.'))
    await this.open(found.id)
  }

  async back() {
    const to = this.state.current?.place?.back[0]
    if (!to) {
      this.notices.toast(t('This is the first item under this filter.'))
      return
    }
    this.order.goBack(to)
    await this.open(to)
  }

  /** The filter has changed. */
  async refilter() {
    const change = ++this.#filtered
    this.state.forgetPlace()
    await this.queue.load()
    if (change !== this.#filtered) return
    const { current } = this.state
    if (!current) return this.start()
    const place = await this.#placeOf(current.item.id)
    if (change !== this.#filtered || current !== this.state.current) return
    current.place = place
    this.queue.setCurrent(current.item.id, place.before)
  }

  /** Show only the items of a filter, and open the first one. @param {Record<string, string>} filter */
  async showFilter(filter) {
    const ticket = this.#ticket
    this.queue.use(filter)
    await this.queue.load()
    if (ticket !== this.#ticket) return
    const id = this.queue.rows.find((row) => !row.blind)?.id
    if (id) await this.open(id)
    else this.#nothing()
  }

  #nothing() {
    this.lease.release(this.leave())
    this.state.clear()
    setNoItem()
    this.drawNothing()
  }

  /** @param {number} id */
  async #placeOf(id) {
    const byNumber = getJSON(`/api/v1/place/${id}?${this.queue.query()}`)
    if (!this.order.on) return byNumber
    try {
      return await this.order.place(id, byNumber)
    } catch (error) {
      this.notices.error(error)
      return byNumber
    }
  }

  /** @returns {Promise<number | null>} */
  async #first() {
    try {
      const chosen = this.order.on ? await this.order.next(null) : null
      if (chosen?.id) return chosen.id
    } catch (error) {
      this.notices.error(error)
    }
    return (await getJSON(`/api/v1/first?${this.queue.query()}`)).id
  }
}
