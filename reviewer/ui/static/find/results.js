// The table of found items: loaded in pages while one scrolls, one body of the table per item. The row that the keys
// act on is the one whose name has the focus.

import { fill, h } from '../common/dom.js'
import { number } from '../common/format.js'
import { t, tn } from '../common/language.js'
import { Rows } from './rows.js'

const NEAR_END = 600 // px from the end of the list, at which the next page is loaded

/** @typedef {import('./rows.js').FoundRow} FoundRow */

/**
 * What the table shows: a search, or items in an order of their own.
 * @typedef {Object} Listing
 * @property {(after: FoundRow | null) => Promise<{rows: FoundRow[], total: number}>} page the rows after this one
 * @property {boolean} [scored] whether rows have a similarity or a score
 * @property {boolean} [ranking] whether rows can be marked as not alike
 * @property {{rows: number, items: number} | null} [cut] after how many rows the suggested cut is, and its items
 */

export class Results {
  #ticket = 0
  #loading = false
  /** @type {Listing | null} */
  #listing = null
  /** @type {Rows} */
  #drawn

  /** @param {import('./find.js').FindDesk} desk */
  constructor(desk) {
    this.desk = desk
    this.selection = desk.selection
    /** @type {FoundRow[]} */
    this.rows = []
    this.total = 0
    this.all = h('input', {
      type: 'checkbox',
      'aria-label': t('Select all rows shown'),
      onChange: () => this.selection.set(this.ids(), this.all.checked),
    })
    const props = { role: 'table', 'aria-label': t('Found items'), onClick: (event) => this.#click(event) }
    this.table = h('table.found-items', props)
    this.empty = h('div.nothing', { hidden: true })
    this.more = h('button.more', { hidden: true, onClick: () => this.loadMore() })
    const onScroll = () => {
      const { scrollTop, clientHeight, scrollHeight } = this.root
      if (scrollTop + clientHeight > scrollHeight - NEAR_END) this.loadMore()
    }
    this.root = h('div.results', { onScroll }, this.table, this.more, this.empty)
    this.selection.addEventListener('change', () => this.#showSelection())
  }

  /** Whether the rows are those of an earlier search. @param {boolean} on */
  setWaiting(on) {
    this.root.classList.toggle('waiting', on)
  }

  /** The numbers of the rows that can be selected, in order. */
  ids() {
    return this.rows.filter((row) => !row.blind).map((row) => row.id)
  }

  /**
   * Show a listing from its first row. An answer that comes after another listing was chosen is dropped.
   * @param {Listing} listing @param {{keep?: boolean}} options `keep`: as many rows as before, at the same scroll
   */
  async show(listing, { keep = false } = {}) {
    const ticket = ++this.#ticket
    const least = keep ? this.rows.length : 0
    this.setWaiting(true)
    try {
      const page = await listing.page(null)
      while (page.rows.length < Math.min(least, page.total)) {
        const further = await listing.page(page.rows.at(-1) ?? null)
        if (ticket !== this.#ticket || !further.rows.length) break
        page.rows.push(...further.rows)
      }
      if (ticket !== this.#ticket) return
      const { scrollTop } = this.root
      this.#listing = listing
      this.rows = page.rows
      this.total = page.total
      this.draw()
      this.root.scrollTop = keep ? scrollTop : 0
    } catch (error) {
      if (ticket === this.#ticket) throw error
    } finally {
      if (ticket === this.#ticket) this.setWaiting(false)
    }
    if (ticket === this.#ticket) this.desk.loaded()
  }

  async loadMore() {
    const listing = this.#listing
    if (!listing || this.#loading || this.rows.length >= this.total || !this.rows.length) return
    const ticket = this.#ticket
    this.#loading = true
    try {
      const { rows } = await listing.page(this.rows.at(-1) ?? null)
      if (ticket !== this.#ticket) return
      this.rows.push(...rows)
      this.table.append(...rows.map((row) => this.#drawn.body(row)))
      if (!rows.length) this.total = this.rows.length
      this.#showMore()
    } catch (error) {
      this.desk.notices.error(error)
    } finally {
      this.#loading = false
    }
  }

  draw() {
    const focused = this.activeRow()
    const { cut } = this.#listing ?? {}
    this.#drawn = new Rows(this.#listing ?? {}, this.desk)
    this.table.classList.toggle('ranking', Boolean(this.#listing?.ranking))
    const bodies = this.rows.map((row) => this.#drawn.body(row))
    if (cut) bodies.splice(cut.rows, 0, this.#drawn.cut(cut.items))
    fill(this.table, this.#drawn.head(this.all), bodies)
    this.table.hidden = !this.rows.length
    this.empty.hidden = this.rows.length > 0
    fill(this.empty, !this.rows.length && this.desk.emptyWords())
    this.#showMore()
    this.#showSelection()
    if (focused) this.focus(focused.id)
  }

  #showMore() {
    const left = this.total - this.rows.length
    this.more.hidden = left <= 0
    this.more.textContent = tn('{n} more item', '{n} more items', left, { n: number(left) })
  }

  #click(event) {
    const body = event.target.closest('tbody.hit')
    if (!body || body.classList.contains('blind')) return
    const id = Number(body.dataset.item)
    if (event.target.matches('.tick input')) {
      if (event.shiftKey) this.selection.range(this.ids(), id)
      else this.selection.toggle(id)
      return
    }
    if (event.target.closest('button, label, a') || getSelection()?.toString()) return
    if (event.shiftKey) this.selection.range(this.ids(), id)
    else this.open(id, event.ctrlKey || event.metaKey)
  }

  /** @param {number} id @param {boolean} [newTab] */
  open(id, newTab = false) {
    if (newTab) window.open(`#item=${id}`, '_blank', 'noopener')
    else this.table.querySelector(`[data-item="${id}"] a.open-item`)?.click()
  }

  #showSelection() {
    for (const body of this.table.querySelectorAll('tbody.hit:not(.blind)')) {
      const selected = this.selection.has(Number(body.dataset.item))
      body.classList.toggle('selected', selected)
      const tick = body.querySelector('.tick input')
      if (tick instanceof HTMLInputElement) tick.checked = selected
    }
    const ids = this.ids()
    const selected = ids.filter((id) => this.selection.has(id)).length
    this.all.checked = selected > 0 && selected === ids.length
    this.all.indeterminate = selected > 0 && selected < ids.length
  }

  /** The row that the keys act on; null if no row has the focus. @returns {FoundRow | null} */
  activeRow() {
    const body = document.activeElement?.closest('tbody.hit')
    if (!body || !this.table.contains(body)) return null
    return this.rows.find((row) => row.id === Number(body.dataset.item)) ?? null
  }

  /** Focus the name of an item. @param {number} id */
  focus(id) {
    const link = this.table.querySelector(`[data-item="${id}"] a.open-item`)
    link?.focus({ preventScroll: true })
    link?.closest('tbody')?.scrollIntoView({ block: 'nearest' })
  }

  /** Focus another row. @param {number} by rows from the present one; ±Infinity: the first or the last */
  move(by) {
    const ids = this.ids()
    const active = this.activeRow()
    const at = active ? ids.indexOf(active.id) : -1
    const to = Math.max(0, Math.min(ids.length - 1, at < 0 && Number.isFinite(by) ? 0 : at + by))
    if (to >= ids.length - 1) this.loadMore()
    if (ids.length) this.focus(ids[to])
  }
}
