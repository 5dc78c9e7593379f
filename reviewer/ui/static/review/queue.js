// The queue: the items under a filter, one row per item; more are fetched while scrolling.

import { lasting } from '../common/browser_storage.js'
import { fill, h } from '../common/dom.js'
import { nameInQueue } from '../common/item_header.js'
import { getJSON } from '../common/http.js'

const FILTER = 'so-filter'
const STATES = [
  ...['screening', 'revision', 'returned', 'audit', 'vote', 'adjudication', 'approved', 'rejected'],
  ...['cannot tell', 'withdrawn'],
]
const TONE = { returned: 'red', rejected: 'red', adjudication: 'amber', approved: 'green', 'cannot tell': 'amber' }

/** @param {number} count */
const grouped = (count) => count.toLocaleString('en').replaceAll(',', '\u202f')

export class Queue {
  #loading = false

  /**
   * @param {Person} me
   * @param {{onOpen: (id: number) => void, onFilter: () => void}} callbacks
   */
  constructor({ tasks, initials }, callbacks) {
    this.root = h('aside.queue')
    this.on = callbacks
    this.tasks = tasks
    this.initials = initials
    /** @type {Record<string, string>} */
    this.filter = { mine: 'true', ...lasting.read(FILTER) }
    /** @type {QueueRow[]} */
    this.rows = []
    this.total = 0
    /** @type {number | null} the item shown */
    this.current = null
    /** @type {number | null} how many items come before it */
    this.place = null
    this.title = h('div.queue-title')
    this.form = h('form.filter', {
      hidden: true,
      onSubmit: (e) => e.preventDefault(),
      onChange: () => this.#changed(),
      onInput: (e) => e.target.name === 'text' && this.#changedSoon(),
    })
    this.list = h('div.rows', {
      role: 'listbox',
      'aria-label': 'Queue',
      onScroll: () => this.#loadMore().catch(() => {}),
    })
    fill(this.root, this.title, this.form, this.list)
  }

  get onlyMine() {
    return this.filter.mine === 'true'
  }

  /** The filter as a query string. */
  query() {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(this.filter))
      if (value !== '' && value !== null) query.append(name, value)
    return String(query)
  }

  async load() {
    const page = await this.#fetch('')
    this.rows = page.rows
    this.total = page.total
    this.#draw()
  }

  async #fetch(after) {
    this.#loading = true
    try {
      return await getJSON(`/api/queue?${this.query()}${after}`)
    } finally {
      this.#loading = false
    }
  }

  /** Load again, for what another tab or person has added; not if rows were fetched by scrolling. */
  async refresh() {
    if (this.#loading || this.list.scrollTop > 0) return
    await this.load()
    this.setCurrent(this.current, this.place)
  }

  async #loadMore() {
    const near = this.list.scrollTop + this.list.clientHeight > this.list.scrollHeight - 400
    if (!near || this.#loading || this.rows.length >= this.total || !this.rows.length) return
    const page = await this.#fetch(`&after=${this.rows[this.rows.length - 1].id}`)
    this.rows.push(...page.rows)
    this.list.append(...page.rows.map((row) => this.#row(row)))
  }

  /**
   * Redraw a changed row in place; the list keeps its order and scroll.
   * @param {number} id @param {Partial<QueueRow>} change
   */
  update(id, change) {
    const row = this.rows.find((r) => r.id === id)
    if (!row) return
    Object.assign(row, change)
    this.list.querySelector(`[data-item="${id}"]`)?.replaceWith(this.#row(row))
  }

  /** @param {number | null} id @param {number | null} place how many items come before it, if known */
  setCurrent(id, place) {
    this.current = id
    this.place = place
    for (const row of this.list.querySelectorAll('[data-item]'))
      row.classList.toggle('current', Number(row.dataset.item) === id)
    this.list.querySelector('.current')?.scrollIntoView({ block: 'nearest' })
    this.#drawTitle()
  }

  async toggleFilter() {
    if (!this.form.hidden) {
      this.closeFilter()
      return
    }
    const facets = await getJSON('/api/facets')
    this.form.hidden = false
    this.#drawForm(facets)
    this.form.querySelector('[name=text]')?.focus()
  }

  #drawForm(facets) {
    const choose = (name, label, values, labelOf = (v) => v) =>
      h(
        'label',
        {},
        label,
        h(
          'select',
          { name },
          h('option', { value: '' }, 'all'),
          values.map((v) => h('option', { value: v, selected: v === this.filter[name] }, labelOf(v))),
        ),
      )
    const number = (name, placeholder) =>
      h('input', {
        name,
        type: 'number',
        step: 'any',
        placeholder,
        value: this.filter[name] ?? '',
        'aria-label': placeholder,
      })
    fill(
      this.form,
      h(
        'label',
        {},
        'Name or id',
        h('input', { name: 'text', type: 'search', value: this.filter.text ?? '', placeholder: 'part of it, or #123' }),
      ),
      h(
        'label.check',
        {},
        h('input', { name: 'mine', type: 'checkbox', checked: this.filter.mine === 'true' }),
        ' waiting for me',
      ),
      choose('state', 'State', STATES),
      choose('task', 'Class', facets.task ?? [], (key) => this.tasks[key]?.title ?? key),
      choose('survey', 'Survey', facets.survey ?? []),
      choose('drafter', 'Drafted by', facets.drafter ?? []),
      choose('batch', 'Batch', facets.batch ?? []),
      h('label', {}, 'S/N', h('span.range', {}, number('snr_min', 'from'), number('snr_max', 'to'))),
      h(
        'label.check',
        {},
        h('input', { name: 'disagreement', type: 'checkbox', checked: this.filter.disagreement === 'true' }),
        ' only disagreements',
      ),
      h(
        'button',
        {
          type: 'button',
          onClick: () => {
            this.filter = {}
            this.#drawForm(facets)
            this.#apply()
          },
        },
        'show everything',
      ),
    )
  }

  closeFilter() {
    this.form.hidden = true
  }

  /** Replace the whole filter, e.g. from a link of another tab. @param {Record<string, string>} filter */
  use(filter) {
    this.filter = filter
    this.closeFilter()
    this.#apply()
  }

  #changed() {
    const data = new FormData(this.form)
    this.filter = Object.fromEntries([...data.entries()].map(([k, v]) => [k, v === 'on' ? 'true' : String(v)]))
    this.#apply()
  }

  #changedSoon() {
    clearTimeout(this.soon)
    this.soon = setTimeout(() => this.#changed(), 250)
  }

  #apply() {
    lasting.set(FILTER, JSON.stringify(this.filter))
    this.on.onFilter()
  }

  #draw() {
    fill(
      this.list,
      this.rows.map((row) => this.#row(row)),
      !this.rows.length &&
        h(
          'p.empty',
          {},
          this.onlyMine
            ? 'Nothing waits for you under this filter. Press / to widen it.'
            : 'No item fits this filter. Press / to change it.',
        ),
    )
    this.#drawTitle()
  }

  #drawTitle() {
    const word = this.onlyMine ? 'in your queue' : 'in the filter'
    const count = grouped(this.total)
    const number = this.place === null ? 0 : this.place + 1 // of the item shown; 0 where it is not known
    const at = number > 0 && number <= this.total ? `item ${grouped(number)} of ` : ''
    const share = this.total ? Math.min(1, number / this.total) : 0
    fill(
      this.title,
      h(
        'div.top',
        {},
        h(
          'span',
          {},
          h('strong', {}, this.filter.task ? (this.tasks[this.filter.task]?.title ?? this.filter.task) : 'All classes'),
          this.filter.state ? ` · ${this.filter.state}` : '',
        ),
        h(
          'button.link',
          {
            type: 'button',
            title: 'filter the queue',
            'aria-expanded': String(!this.form.hidden),
            onClick: () => this.toggleFilter(),
          },
          h('kbd.cap', {}, '/'),
          ' filter',
        ),
      ),
      h('div.bar', {}, h('span', { style: `width:${100 * share}%` })),
      h('div.muted', {}, `${at}${count} ${word}`),
    )
  }

  #row(row) {
    if (row.blind) return blindRow(row)
    const others = row.held_by.filter((who) => who !== this.initials)
    const state = row.wanted > 1 ? `${row.state} ${row.cast} of ${row.wanted}` : row.state
    const drafter = row.drafter.kind === 'baseline' ? 'baseline' : row.drafter.name
    const tone = row.disagreement ? 'amber' : (TONE[row.state] ?? 'blue')
    return h(
      `div.row${row.id === this.current ? '.current' : ''}`,
      { 'data-item': row.id, role: 'option', title: row.name, onClick: () => this.on.onOpen(row.id) },
      h('div.name', {}, nameInQueue(row.name), row.snr !== null && h('span.snr', {}, `S/N ${Math.round(row.snr)}`)),
      h(
        'div.sub',
        {},
        h(`span.pill.${tone}`, {}, row.disagreement ? 'disagreement' : state),
        h('span.muted', {}, [row.task, drafter, row.version > 1 && `v${row.version}`].filter(Boolean).join(' · ')),
        row.simulated && h('span.pill.grey', {}, 'simulated'),
        others.length > 0 && h('span.muted', { title: 'working on it now' }, ` ✎ ${others.join(', ')}`),
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
      role: 'option',
      'aria-disabled': 'true',
      title: 'You score this item in a blind session; it is shown here again when the session is closed.',
    },
    h('div.name', {}, h('span.muted', {}, `#${row.id}`)),
    h('div.sub', {}, h('span.pill.grey', {}, 'in a blind session'), h('span.muted', {}, row.task)),
  )
