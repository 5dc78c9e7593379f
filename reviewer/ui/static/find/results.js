// The table of found items: loaded in pages while one scrolls, one body of the table per item. The row that the keys
// act on is the one whose name has the focus.

import { fill, h } from '../common/dom.js'
import { STATE_TONES, stateName } from '../common/filters.js'
import { number } from '../common/format.js'
import { nameInQueue } from '../common/item_header.js'
import { t, tn } from '../common/language.js'

const NEAR_END = 600 // px from the end of the list, at which the next page is loaded

/**
 * @typedef {QueueRow & {
 *   snippets?: FoundLine[],
 *   assigned?: string[],
 *   comments?: number,
 *   unread?: number,
 *   similarity?: number,
 *   score?: number,
 *   example?: string,
 * }} FoundRow  `example`: "like" or "not like" of the ranking
 */

/**
 * What the table shows: a search, or items in an order of their own.
 * @typedef {Object} Listing
 * @property {(after: FoundRow | null) => Promise<{rows: FoundRow[], total: number}>} page the rows after this one
 * @property {boolean} [scored] whether rows have a similarity or a score
 * @property {boolean} [ranking] whether rows can be marked as not alike
 * @property {number | null} [cut] after how many rows the suggested cut is
 */

export class Results {
  #ticket = 0
  #loading = false
  /** @type {Listing | null} */
  #listing = null

  /**
   * @param {{
   *   tasks: Record<string, TaskText>,
   *   selection: import('./selection.js').Selection,
   *   onMenu: (row: FoundRow, button: HTMLElement) => void,
   *   onNotLike: (row: FoundRow) => void,
   *   onCut: () => void,
   *   onLoaded: () => void,
   *   onError: (error: any) => void,
   *   empty: () => import('../common/dom.js').Child[],
   * }} options
   */
  constructor(options) {
    this.options = options
    this.selection = options.selection
    /** @type {FoundRow[]} */
    this.rows = []
    this.total = 0
    this.all = h('input', {
      type: 'checkbox',
      'aria-label': t('Select all rows shown'),
      onChange: () => this.selection.set(this.ids(), this.all.checked),
    })
    this.table = h('table.found-items', {
      role: 'table',
      'aria-label': t('Found items'),
      onClick: (e) => this.#click(e),
    })
    this.empty = h('div.nothing', { hidden: true })
    this.more = h('button.more', { type: 'button', hidden: true, onClick: () => this.loadMore() })
    this.root = h(
      'div.results',
      { onScroll: () => this.#nearEnd() && this.loadMore() },
      this.table,
      this.more,
      this.empty,
    )
    this.selection.addEventListener('change', () => this.#showSelection())
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
    const wanted = keep ? this.rows.length : 0
    this.root.classList.add('waiting')
    try {
      const page = await listing.page(null)
      while (page.rows.length < Math.min(wanted, page.total)) {
        const further = await listing.page(page.rows.at(-1) ?? null)
        if (!further.rows.length) break
        page.rows.push(...further.rows)
      }
      if (ticket !== this.#ticket) return
      const { scrollTop } = this.root
      this.#listing = listing
      this.rows = page.rows
      this.total = page.total
      this.draw()
      this.root.scrollTop = keep ? scrollTop : 0
    } finally {
      if (ticket === this.#ticket) this.root.classList.remove('waiting')
    }
    if (ticket === this.#ticket) this.options.onLoaded()
  }

  #nearEnd() {
    return this.root.scrollTop + this.root.clientHeight > this.root.scrollHeight - NEAR_END
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
      this.table.append(...rows.map((row) => this.#body(row)))
      if (!rows.length) this.total = this.rows.length
      this.#showMore()
    } catch (error) {
      this.options.onError(error)
    } finally {
      this.#loading = false
    }
  }

  draw() {
    const focused = this.activeRow()
    const { scored, ranking, cut } = this.#listing ?? {}
    this.table.classList.toggle('scored', Boolean(scored))
    this.table.classList.toggle('ranking', Boolean(ranking))
    const bodies = this.rows.map((row) => this.#body(row))
    if (cut !== null && cut !== undefined && cut > 0 && this.rows.length) bodies.splice(cut, 0, this.#cutBody(cut))
    fill(this.table, this.#head(), bodies)
    this.table.hidden = !this.rows.length
    this.empty.hidden = this.rows.length > 0
    fill(this.empty, this.rows.length ? null : this.options.empty())
    this.#showMore()
    this.#showSelection()
    if (focused) this.focus(focused.id)
  }

  #showMore() {
    const left = this.total - this.rows.length
    this.more.hidden = left <= 0
    this.more.textContent = tn('{n} more item', '{n} more items', left, { n: number(left) })
  }

  #head() {
    /** @param {string} name @param {import('../common/dom.js').Child} text */
    const column = (name, text) => h(`th.${name}`, { scope: 'col', role: 'columnheader' }, text)
    const { scored } = this.#listing ?? {}
    return h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        column('tick', h('label', {}, this.all)),
        column('no', t('No.')),
        scored && column('score', t('Similarity')),
        column('name', t('Name')),
        column('task', t('Class')),
        column('state', t('State')),
        column('drafter', t('Drafted by')),
        column('batch', t('Batch')),
        column('snr', t('S/N')),
        column('assigned', t('Assigned')),
        column('comments', t('Comments')),
        column('do', h('span.hidden-text', {}, t('Actions'))),
      ),
    )
  }

  /** @param {FoundRow} row */
  #body(row) {
    const { tasks } = this.options
    const { scored, ranking } = this.#listing ?? {}
    /** @param {string} name @param {...import('../common/dom.js').Child} content */
    const cell = (name, ...content) => h(`td.${name}`, { role: 'cell' }, content)
    const body = h(`tbody.item${row.blind ? '.blind' : ''}`, { role: 'rowgroup', 'data-item': row.id })
    const line = h('tr.line', { role: 'row' })
    if (row.blind) {
      fill(
        line,
        cell('tick'),
        cell('no', `#${row.id}`),
        scored && cell('score'),
        h('td.name', { role: 'cell', colSpan: 9 }, t('in a blind session of yours: shown again when it is closed')),
      )
      return fill(body, line)
    }
    const tick = h('input', {
      type: 'checkbox',
      'aria-label': t('Select item {number}', { number: row.id }),
      checked: this.selection.has(row.id),
    })
    const state =
      row.wanted > 1
        ? t('{state} {cast} of {wanted}', { state: stateName(row.state), cast: row.cast, wanted: row.wanted })
        : stateName(row.state)
    const task = tasks[row.task]?.title ?? row.task
    const score = row.score ?? row.similarity
    fill(
      line,
      cell('tick', h('label', {}, tick)),
      cell('no', `#${row.id}`),
      scored && cell('score', score === undefined || score === null ? '–' : number(score, 2)),
      cell(
        'name',
        h('a.open-item', { href: `#item=${row.id}`, title: row.name }, nameInQueue(row.name)),
        row.simulated && h('span.pill.grey', {}, t('simulated')),
        row.example && h('span.pill', {}, row.example === 'like' ? t('example') : t('not like these')),
      ),
      h('td.task', { role: 'cell', title: task }, row.task),
      cell(
        'state',
        h(`span.pill.${STATE_TONES[row.state] ?? 'blue'}`, {}, state),
        row.disagreement && h('span.pill.amber', {}, t('disagreement')),
      ),
      h('td.drafter', { role: 'cell', title: row.drafter.name }, row.drafter.name),
      h('td.batch', { role: 'cell', title: row.batch }, row.batch),
      cell('snr', row.snr === null ? '' : number(row.snr)),
      h('td.assigned', { role: 'cell', title: (row.assigned ?? []).join(', ') }, (row.assigned ?? []).join(', ')),
      cell(
        'comments',
        row.comments ? h('span.count', {}, number(row.comments)) : null,
        row.unread ? h('span.pill.amber', {}, tn('{n} unread', '{n} unread', row.unread)) : null,
      ),
      cell(
        'do',
        ranking &&
          h(
            'button.not-like',
            {
              type: 'button',
              'aria-pressed': String(row.example === 'not like'),
              title: t('mark as not like these (n), then rank again'),
              onClick: () => this.options.onNotLike(row),
            },
            t('not like these'),
          ),
        h(
          'button.row-menu',
          {
            type: 'button',
            'aria-haspopup': 'menu',
            'aria-label': t('Actions for item {number}', { number: row.id }),
            onClick: (/** @type {any} */ e) => this.options.onMenu(row, e.currentTarget),
          },
          '⋯',
        ),
      ),
    )
    body.classList.toggle('selected', this.selection.has(row.id))
    return fill(body, line, row.snippets?.length ? foundLines(row.snippets) : null)
  }

  /** @param {number} cut */
  #cutBody(cut) {
    const text = tn(
      'Suggested cut: the {n} item above is like your examples',
      'Suggested cut: the {n} items above are like your examples',
      cut,
      { n: number(cut) },
    )
    return h(
      'tbody.cut',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        h(
          'td',
          { role: 'cell', colSpan: 12 },
          h('span', {}, text),
          h('button', { type: 'button', onClick: () => this.options.onCut() }, t('Select down to the cut')),
        ),
      ),
    )
  }

  /** @param {any} event */
  #click(event) {
    const body = event.target.closest('tbody.item')
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
    for (const body of this.table.querySelectorAll('tbody.item:not(.blind)')) {
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
    const body = document.activeElement?.closest('tbody.item')
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

/**
 * The lines of texts in which the words were found.
 * @typedef {{source: string, text: string, marks: [number, number][]}} FoundLine `marks`: begin and end of each hit
 * @param {FoundLine[]} lines
 */
function foundLines(lines) {
  return h(
    'tr.texts',
    { role: 'row' },
    h(
      'td',
      { role: 'cell', colSpan: 12 },
      lines.map((line) => h('p', {}, h('span.source', {}, line.source), ' ', marked(line))),
    ),
  )
}

/** @param {FoundLine} line */
function marked({ text, marks }) {
  let from = 0
  const parts = marks.flatMap(([begin, end]) => {
    const pair = [text.slice(from, begin), h('mark', {}, text.slice(begin, end))]
    from = end
    return pair
  })
  return [...parts, text.slice(from)]
}
