// The queue: the items under a filter, one row per item; more are fetched while scrolling. It follows the server: a
// number that grows with every change is requested often, the list only when that number has changed.

import { number } from '../common/format.js'
import { cap, fill, h } from '../common/dom.js'
import { FilterChips, FilterForm, STATE_TONES, queryOf } from '../common/filters.js'
import { getJSON } from '../common/http.js'
import { Keys } from '../common/keys.js'
import { nameInQueue } from '../spectrum/item_header.js'
import { sparkline } from '../spectrum/sparklines.js'
import { t, tn, withCommas, withParts, word } from '../common/language.js'
import { showCount } from '../common/tabs.js'

const CHECK_EVERY = 10_000 // ms
const PAGE = 60
const LARGEST_PAGE = 200 // rows of one answer
const MOST_COUNTED = 10_000 // items with a text that very many have

export class Queue {
  #loading = false
  #ticket = 0
  #loaded = Promise.resolve()
  /** The list shows what the last decision on this page has changed. */
  #decisionShown = false

  /** @param {import('./state.js').ReviewState} state @param {import('./state.js').Act} act */
  constructor(state, act) {
    const { tasks } = state.me
    this.root = h('aside.queue')
    this.state = state
    this.act = act
    /** @type {ListedRow[]} */
    this.rows = []
    this.total = 0
    /** @type {number | null} the item shown */
    this.current = null
    /** @type {number | null} how many items come before it */
    this.place = null
    /** @type {QueueRow | null} the row of the item shown */
    this.shown = null
    this.hint = ''
    /** @type {number | null} grows with every change on the server */
    this.stamp = null
    // Made once: a focused button keeps its focus while the list changes.
    this.count = h('span.count')
    this.done = h('span')
    this.filterButton = h(
      'button.link.filter-button',
      { title: t('filter the queue'), 'aria-expanded': 'false', onClick: () => this.toggleFilter() },
      withParts(t('{h} filter'), { h: cap(Keys.of('filter')) }),
    )
    this.short = h('button.link.short', {
      title: t('queue with names and filter ({key})', { key: Keys.of('queue') }),
      onClick: () => this.act('queue'),
    })
    this.title = h('div.queue-title', h('div.top', this.short, this.count, this.filterButton), h('div.bar', this.done))
    this.chips = new FilterChips(tasks, (filter) => this.use(filter))
    this.pinned = h('div.pinned', { hidden: true })
    this.filterForm = new FilterForm(tasks, (filter) => state.setFilter(filter), { order: true })
    this.form = this.filterForm.root
    this.form.hidden = true
    this.list = h('div.rows', {
      'aria-label': t('Queue'),
      onKeydown: (event) => this.#key(event),
      onScroll: () => this.#loadMore().catch(() => {}),
    })
    fill(this.root, this.title, this.chips.root, this.form, this.pinned, this.list)
    const quietly = () => {} // the connection strip shows a server that is away
    setInterval(() => this.check().catch(quietly), CHECK_EVERY)
    state.on('item', () => this.#setShown(state.item?.row ?? null))
    state.on('place', ({ before }) => state.item && this.setCurrent(state.item.id, before))
    state.on('opening', ({ stamp }) => {
      // After a decision only others can have changed more: the next regular check is soon enough.
      if (!this.#decisionShown) this.#compare(stamp).catch(quietly)
      this.#decisionShown = false
    })
    state.on('changed', ({ id, change, listed }) => {
      if (listed === false) this.#remove(id)
      else this.#update(id, change)
      this.#decisionShown = listed !== undefined
    })
    state.on('read', ({ id }) => this.#update(id, { unread: false }))
  }

  get onlyMine() {
    return this.state.filter.mine === 'true'
  }

  /** What the chosen order means for the item shown. @param {string} hint */
  setHint(hint) {
    this.hint = hint
    this.chips.show(this.state.filter, { order: hint })
  }

  /** Load the list; if it is loaded once more meanwhile, what came last counts. @returns {Promise<void>} */
  load() {
    this.#loaded = this.#load()
    return this.#loaded
  }

  async #load() {
    const page = await this.#fetch('')
    return page ? this.#show(page, page.rows) : this.#loaded
  }

  /** @param {{total: number, stamp: number}} page as it was answered @param {ListedRow[]} rows */
  #show({ total, stamp }, rows) {
    Object.assign(this, { rows, total, stamp })
    this.state.dispatch('stamp', { stamp })
    this.#draw()
  }

  /** Rows of the list; null if others were requested meanwhile. @param {string} after */
  async #fetch(after) {
    const ticket = ++this.#ticket
    this.#loading = true
    try {
      const page = await getJSON(`/api/v1/queue?${this.state.query}${after}`)
      return ticket === this.#ticket ? page : null
    } catch (error) {
      if (ticket === this.#ticket) throw error
      return null
    } finally {
      if (ticket === this.#ticket) this.#loading = false
    }
  }

  /** Load the list again if anything has changed on the server since, and show what waits in each tab: in all tabs. */
  async check() {
    if (document.hidden || this.#loading || this.stamp === null) return
    const { stamp, waiting, sessions } = await getJSON('/api/v1/queue/stamp')
    showCount('review', waiting)
    showCount('blind', sessions)
    this.state.dispatch('stamp', { stamp })
    await this.#compare(stamp)
  }

  /** Load the list again if the server has another number for its changes. @param {number} stamp */
  async #compare(stamp) {
    if (this.stamp !== null && stamp !== this.stamp && this.root.getClientRects().length) await this.refresh()
  }

  /** Load the rows again; those further down, which were fetched by scrolling, stay, and so does the scroll. */
  async refresh() {
    if (this.#loading) return
    const { query } = this.state
    const page = await this.#fetch(`&limit=${Math.min(LARGEST_PAGE, Math.max(PAGE, this.rows.length))}`)
    if (!page || query !== this.state.query) return // another filter was chosen meanwhile
    const last = page.rows.at(-1)?.id ?? Infinity
    const further = page.rows.length < page.total ? this.rows.filter((row) => row.id > last) : []
    const { scrollTop } = this.list
    this.#show(page, [...page.rows, ...further])
    this.list.scrollTop = scrollTop
  }

  async #loadMore() {
    const near = this.list.scrollTop + this.list.clientHeight > this.list.scrollHeight - 400
    if (!near || this.#loading || this.rows.length >= this.total || !this.rows.length) return
    const page = await this.#fetch(`&after=${this.rows.at(-1)?.id}`)
    if (!page) return
    this.rows.push(...page.rows)
    this.list.append(...page.rows.map((row) => this.#option(row)))
  }

  /** Redraw a changed row in place: order and scroll stay. @param {number} id @param {Partial<ListedRow>} change */
  #update(id, change) {
    const row = this.rows.find((r) => r.id === id)
    if (!row) return
    Object.assign(row, change)
    if (id === this.shown?.id) Object.assign(this.shown, change)
    this.list.querySelector(`[data-item="${id}"]`)?.replaceWith(this.#option(row))
  }

  /** An item is no longer in the list. @param {number} id */
  #remove(id) {
    const rest = this.rows.filter((row) => row.id !== id)
    if (rest.length === this.rows.length) return
    this.rows = rest
    this.total -= 1
    this.list.querySelector(`[data-item="${id}"]`)?.remove()
    if (rest.length) this.#drawTitle()
    else this.#draw()
  }

  /** @param {number | null} id @param {number | null} place how many items come before it, if known */
  setCurrent(id, place) {
    this.current = id
    this.place = place
    for (const row of this.list.querySelectorAll('[data-item]')) {
      const current = Number(row.dataset.item) === id
      row.classList.toggle('current', current)
      row.setAttribute('aria-selected', String(current))
      if (current) this.#setActive(row)
    }
    // The round is said once, in the decision bar; in the list only where it is another one.
    for (const round of this.list.querySelectorAll('.round'))
      round.classList.toggle('same', round.getAttribute('data-state') === this.shown?.state)
    this.list.querySelector('.current')?.scrollIntoView({ block: 'nearest' })
    this.#drawPinned()
    this.#drawTitle()
  }

  /** The item shown has this row now; null: no item is shown. @param {QueueRow | null} row */
  #setShown(row) {
    this.shown = row && { ...row }
    if (row) this.#update(row.id, row)
    else this.setCurrent(null, null)
  }

  /** Whether the item shown is in the list, or may be further down than the rows that are loaded. */
  get #shownFits() {
    const last = this.rows.at(-1)?.id ?? 0
    const further = this.rows.length < this.total && (this.current ?? 0) > last
    return further || this.rows.some((row) => row.id === this.current)
  }

  /** Keep the item shown above the list while it is not in it. */
  #drawPinned() {
    const { shown } = this
    const pinned = shown && shown.id === this.current && !this.rows.some((row) => row.id === shown.id)
    this.pinned.hidden = !pinned
    const note = () => h('p.muted', this.#shownFits ? t('further down') : t('not in this filter'))
    fill(this.pinned, pinned && [this.#row(shown), note()])
  }

  /** @param {HTMLElement} row */
  #setActive(row) {
    this.list.querySelector('.active')?.classList.remove('active')
    row.classList.add('active')
    this.list.setAttribute('aria-activedescendant', row.id)
  }

  /** ↑, ↓, Home and End choose a row of the focused list, Enter opens it. @param {KeyboardEvent} event */
  #key(event) {
    const rows = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll('.row')])
    const at = rows.findIndex((row) => row.classList.contains('active'))
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (event.ctrlKey || event.altKey || event.metaKey || (to === undefined && event.key !== 'Enter')) return undefined
    event.preventDefault()
    event.stopPropagation()
    if (to === undefined) return rows[at]?.click()
    const row = rows[Math.max(0, Math.min(rows.length - 1, to))]
    if (!row) return undefined
    this.#setActive(row)
    return row.scrollIntoView({ block: 'nearest' })
  }

  async toggleFilter() {
    if (this.form.checkVisibility()) return this.closeFilter()
    this.act('show-queue')
    await this.filterForm.load(this.state.filter)
    this.form.hidden = false
    this.filterButton.setAttribute('aria-expanded', 'true')
    return this.form.querySelector('[name=text]')?.focus()
  }

  closeFilter() {
    this.form.hidden = true
    this.filterButton.setAttribute('aria-expanded', 'false')
  }

  /** Replace the whole filter, e.g. from a link of another tab. @param {Record<string, string>} filter */
  use(filter) {
    this.closeFilter()
    this.state.setFilter(filter)
  }

  #draw() {
    // An empty list has no options, so it is none for a screen reader.
    if (this.rows.length) Object.assign(this.list, { role: 'listbox', tabIndex: 0 })
    else this.list.removeAttribute('role')
    this.list.removeAttribute('aria-activedescendant')
    const key = Keys.of('filter')
    const empty = this.onlyMine
      ? t('Nothing waits for you under this filter. Press {key} to widen it.', { key })
      : t('No item fits this filter. Press {key} to change it.', { key })
    const rows = this.rows.map((row) => this.#option(row))
    fill(this.list, rows.length ? rows : h('p.empty', empty))
    this.setHint(this.hint)
    this.setCurrent(this.current, this.place)
  }

  #drawTitle() {
    // Of a text that very many items have, the server counts the first.
    const { filter } = this.state
    const first = (filter.text || filter.words) && this.total === MOST_COUNTED
    const n = first ? t('{n} or more', { n: number(this.total) }) : number(this.total)
    if (queryOf(filter) === 'mine=true') showCount('review', this.total) // at once, after a decision
    const count = this.onlyMine ? t('{n} waiting', { n }) : tn('{n} item', '{n} items', this.total, { n })
    // Of the item shown: its place among the rows, which begin with the first; 0 where it is not known.
    const row = this.rows.findIndex(({ id }) => id === this.current)
    const further = this.place !== null && this.#shownFits ? this.place + 1 : 0
    const place = row < 0 ? further : row + 1
    const isIn = place > 0 && place <= this.total
    const at = isIn ? t(' · this is no. {number}', { number: number(place) }) : ''
    this.short.textContent = isIn ? `${number(place)} / ${n}` : n
    const filtered = Object.keys(filter).some((name) => name !== 'mine')
    this.short.classList.toggle('filtered', filtered)
    fill(this.count, h('strong', count), h('span.muted', at))
    this.done.style.width = `${100 * (this.total ? Math.min(1, place / this.total) : 0)}%`
  }

  /** A row of the list. */
  #option(row) {
    const option = row.blind ? blindRow(row) : this.#row(row)
    return Object.assign(option, {
      id: `so-row-${row.id}`,
      role: 'option',
      ariaSelected: String(this.current === row.id),
    })
  }

  #row(row) {
    const others = row.held_by.filter((who) => who !== this.state.me.initials)
    const name = word(row.state)
    const { cast, needed } = row
    const state = needed > 1 ? t('{state} {cast} of {wanted}', { state: name, cast, wanted: needed }) : name
    const snr = row.snr !== null && `S/N ${Math.round(row.snr)}`
    const drafter = row.drafter.kind === 'baseline' ? word('baseline') : row.drafter.name // empty while it is hidden
    const disagree = row.disagreement && row.state !== 'returned' // a returned item says what to do next
    const orDisagreement = (/** @type {string} */ otherwise) => (disagree ? t('disagreement') : otherwise)
    const about = [row.name, snr, state, row.unread && t('unread')].filter(Boolean).join(' · ')
    const tone = disagree ? 'amber' : (STATE_TONES[row.state] ?? 'blue')
    return h(
      `div.row${row.id === this.current ? '.current' : ''}`,
      { 'data-item': row.id, title: about, onClick: () => this.act('open', row.id) },
      h('span.spark', { role: 'img', 'aria-label': row.name }, sparkline(row.spectrum)),
      h(
        `span.round${tone === 'amber' ? '.amber' : ''}`,
        { 'data-state': disagree ? '' : row.state },
        orDisagreement(name),
      ),
      h('div.name', nameInQueue(row.name), snr && h('span.snr', snr)),
      h(
        'div.sub',
        h(`span.pill.${tone}`, orDisagreement(state)),
        h('span.muted', [row.task, drafter, row.version > 1 && `v${row.version}`].filter(Boolean).join(' · ')),
        row.simulated && h('span.pill.grey', t('simulated')),
        row.unread && h('span.pill.amber', { title: t('comments that you have not read') }, t('unread')),
        others.length > 0 && h('span.muted', { title: t('working on it now') }, ` ✎ ${withCommas(others)}`),
      ),
    )
  }
}

/** An item that this person scores in a blind session: it shows nothing and cannot be opened. */
const blindRow = (row) =>
  h(
    'div.row.blind',
    {
      'data-item': row.id,
      'aria-disabled': 'true',
      title: t('You score this item in a blind session; it is shown here again when the session is closed.'),
    },
    h('span.round', t('blind')),
    h('div.name', h('span.muted', `#${row.id}`)),
    h('div.sub', h('span.pill.grey', t('in a blind session')), h('span.muted', row.task)),
  )
