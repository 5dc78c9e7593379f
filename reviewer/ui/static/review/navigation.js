// Opening items: the one requested, the next, the previous; the lease and the drafts follow, and what is likely to be
// opened next is fetched ahead.

import { getJSON } from '../common/http.js'
import { painted } from '../common/idle.js'
import { picturesOf } from './items.js'

/**
 * @typedef {Object} NavigationOptions
 * @property {import('./state.js').ReviewState} state
 * @property {import('./items.js').Items} items
 * @property {import('./queue.js').Queue} queue
 * @property {import('./value_order.js').ValueOrder} order
 * @property {import('./lease.js').Lease} lease
 * @property {import('./editing.js').Editing} editing
 * @property {import('../common/notices.js').Notices} notices
 * @property {(loaded: LoadedItem, sameItem: boolean) => void} draw
 * @property {() => void} drawNothing no item is left under the filter
 */

export class Navigation {
  #ticket = 0 // of the last item opened: only that one is drawn
  #abort = new AbortController() // aborted when another item is opened

  /** @param {NavigationOptions} options */
  constructor({ state, items, queue, order, lease, editing, notices, draw, drawNothing }) {
    this.state = state
    this.items = items
    this.queue = queue
    this.order = order
    this.lease = lease
    this.editing = editing
    this.notices = notices
    this.draw = draw
    this.drawNothing = drawNothing
  }

  /** Open the item of the address, or else the first one waiting; not if another is opened while this is found out. */
  async start() {
    const ticket = this.#ticket
    const [waiting] = await Promise.all([itemInAddress() ?? this.#first(), this.queue.load()])
    if (ticket !== this.#ticket) return
    const id = waiting ?? this.queue.rows.find((row) => !row.blind)?.id
    if (id) await this.open(id)
    else this.#nothing()
  }

  /** @param {number} id */
  async open(id) {
    const ticket = ++this.#ticket
    this.#abort.abort()
    this.#abort = new AbortController()
    const lease = this.leave()
    let loaded
    try {
      loaded = await this.items.load(id)
    } catch (error) {
      this.lease.release(lease)
      this.notices.error(error)
      return
    }
    if (ticket === this.#ticket) this.draw(loaded, false)
    // The person waits for the picture alone; every other request comes after it.
    await painted()
    const released = this.lease.release(lease)
    if (ticket !== this.#ticket) return
    history.replaceState(null, '', `#item=${id}`)
    this.#afterPaint(ticket, loaded.item, released).catch((error) => this.notices.error(error))
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
    this.notices.toast('That was the last item under this filter.')
    if (this.state.item) await this.open(this.state.item.id)
  }

  /** Open the next item that waits for this person; after the last one the first. */
  async nextUndone() {
    if (this.order.on) return this.next()
    const shown = this.state.item?.id
    const after = shown === undefined ? '' : `&after=${shown}`
    const found = await getJSON(`/api/v1/first?${this.queue.query()}${after}`)
    if (!found.id || found.id === shown) {
      this.notices.toast(shown === undefined ? 'Nothing waits for you.' : 'No other item waits for you.')
      return
    }
    if (found.from_start) this.notices.toast('From the start of the queue.')
    await this.open(found.id)
  }

  async back() {
    const to = this.state.current?.place?.back[0]
    if (!to) {
      this.notices.toast('This is the first item under this filter.')
      return
    }
    this.order.goBack(to)
    await this.open(to)
  }

  /** The filter has changed. */
  async refilter() {
    this.state.forgetPlace()
    await this.queue.load()
    const { current } = this.state
    if (!current) return this.start()
    const place = await this.#placeOf(current.item.id)
    if (current !== this.state.current) return
    current.place = place
    this.queue.setCurrent(current.item.id, place.before)
  }

  /** Show only the items of a filter, and open the first one. @param {Record<string, string>} filter */
  async showFilter(filter) {
    this.queue.use(filter)
    await this.queue.load()
    const id = this.queue.rows.find((row) => !row.blind)?.id
    if (id) await this.open(id)
    else this.#nothing()
  }

  #nothing() {
    this.lease.release(this.leave())
    this.state.clear()
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

/** The item named in the page's address, e.g. `#item=12`. */
export const itemInAddress = () => Number(/item=(\d+)/.exec(location.hash)?.[1]) || null
