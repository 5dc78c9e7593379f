// The queue: what waits, filtered; one light row an item, more fetched as one scrolls.

import { lasting } from '../common/browser_storage.js'
import { fill, h } from '../common/dom.js'
import { nameInQueue } from '../common/item_header.js'
import { getJSON } from '../common/http.js'

const FILTER = 'so-filter'
const STATES = ['screening', 'revision', 'returned', 'audit', 'vote', 'adjudication', 'approved', 'rejected']
const TONE = { returned: 'red', rejected: 'red', adjudication: 'amber', approved: 'green' }

export class QueueView {
  /** @param {{onOpen: (id: number) => void, onFilter: (query: string) => void}} callbacks */
  constructor(root, callbacks, { tasks, initials }) {
    this.root = root
    this.on = callbacks
    this.tasks = tasks
    this.initials = initials
    this.filter = { mine: 'true', ...lasting.read(FILTER) }
    this.rows = []
    this.total = 0
    this.current = null
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
      onScroll: () => this.#maybeMore().catch(() => {}),
    })
    fill(root, this.title, this.form, this.list)
  }

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
    this.loading = true
    try {
      return await getJSON(`/api/queue?${this.query()}${after}`)
    } finally {
      this.loading = false
    }
  }

  /** What came in meanwhile, from another tab or another person; rows fetched by scrolling stay as they are. */
  async freshen() {
    if (this.loading || this.list.scrollTop > 0) return
    await this.load()
    this.setCurrent(this.current, this.place)
  }

  async #maybeMore() {
    const near = this.list.scrollTop + this.list.clientHeight > this.list.scrollHeight - 400
    if (!near || this.loading || this.rows.length >= this.total || !this.rows.length) return
    const page = await this.#fetch(`&after=${this.rows.at(-1).id}`)
    this.rows.push(...page.rows)
    this.list.append(...page.rows.map((row) => this.#row(row)))
  }

  /** One row changed: redraw it in place; the list keeps its order and its scroll. */
  update(id, change) {
    const row = this.rows.find((r) => r.id === id)
    if (!row) return
    Object.assign(row, change)
    this.list.querySelector(`[data-item="${id}"]`)?.replaceWith(this.#row(row))
  }

  setCurrent(id, place) {
    this.current = id
    this.place = place
    for (const row of this.list.children) row.classList.toggle('current', Number(row.dataset.item) === id)
    this.list.querySelector('.current')?.scrollIntoView({ block: 'nearest' })
    this.#drawTitle()
  }

  async openFilter() {
    if (!this.form.hidden) {
      this.form.hidden = true
      return
    }
    const facets = await getJSON('/api/facets')
    this.form.hidden = false
    this.#drawForm(facets)
    this.form.elements.text.focus()
  }

  #drawForm(facets) {
    const choose = (name, label, values, say = (v) => v) =>
      h(
        'label',
        {},
        label,
        h(
          'select',
          { name },
          h('option', { value: '' }, 'all'),
          values.map((v) => h('option', { value: v, selected: v === this.filter[name] }, say(v))),
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
        ' what waits for me',
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
        ' disagreement only',
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

  /** Filter by this and by nothing else, as when another tab leads here. */
  use(filter) {
    this.filter = filter
    this.form.hidden = true
    this.#apply()
  }

  #changed() {
    const data = new FormData(this.form)
    this.filter = Object.fromEntries([...data.entries()].map(([k, v]) => [k, v === 'on' ? 'true' : v]))
    this.#apply()
  }

  #changedSoon() {
    clearTimeout(this.soon)
    this.soon = setTimeout(() => this.#changed(), 250)
  }

  #apply() {
    lasting.set(FILTER, JSON.stringify(this.filter))
    this.on.onFilter(this.query())
  }

  #draw() {
    fill(
      this.list,
      this.rows.map((row) => this.#row(row)),
      !this.rows.length &&
        h(
          'p.empty',
          {},
          this.filter.mine === 'true'
            ? 'Nothing waits for you under this filter. Press / to widen it.'
            : 'No item fits this filter. Press / to change it.',
        ),
    )
    this.#drawTitle()
  }

  #drawTitle() {
    const word = this.filter.mine === 'true' ? 'waiting for you' : 'in the filter'
    const count = this.total.toLocaleString('en').replaceAll(',', '\u202f')
    const at =
      this.place === undefined || this.place === null || this.place >= this.total
        ? ''
        : `${(this.place + 1).toLocaleString('en').replaceAll(',', '\u202f')} of `
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
            onClick: () => this.openFilter(),
          },
          h('kbd.cap', {}, '/'),
          ' filter',
        ),
      ),
      h(
        'div.bar',
        {},
        h('span', {
          style: `width:${this.total && this.place !== null ? Math.min(100, (100 * (this.place + 1)) / this.total) : 0}%`,
        }),
      ),
      h('div.muted', {}, `${at}${count} ${word}`),
    )
  }

  #row(row) {
    if (row.blind) return blindRow(row)
    const others = row.held_by.filter((who) => who !== this.initials)
    const state = row.wanted > 1 ? `${row.state} ${row.cast} of ${row.wanted}` : row.state
    const tone = row.disagreement ? 'amber' : (TONE[row.state] ?? 'blue')
    return h(
      `div.row${row.id === this.current ? '.current' : ''}`,
      { 'data-item': row.id, role: 'option', title: row.name, onClick: () => this.on.onOpen(row.id) },
      h('div.name', {}, nameInQueue(row.name), row.snr !== null && h('span.snr', {}, `S/N ${Math.round(row.snr)}`)),
      h(
        'div.sub',
        {},
        h(`span.pill.${tone}`, {}, row.disagreement ? 'disagreement' : state),
        h(
          'span.muted',
          {},
          `${row.task} · ${row.drafter.kind === 'baseline' ? 'baseline' : row.drafter.name}${row.version > 1 ? ` · v${row.version}` : ''}`,
        ),
        row.simulated && h('span.pill.grey', {}, 'simulated'),
        others.length > 0 && h('span.muted', { title: 'working on it now' }, ` ✎ ${others.join(', ')}`),
      ),
    )
  }
}

/** An item that this person scores in a blind session: nothing is told of it here, and it cannot be opened. */
const blindRow = (row) =>
  h(
    'div.row.blind',
    {
      'data-item': row.id,
      role: 'option',
      'aria-disabled': 'true',
      title: 'You score this in a blind session; it is shown here again once the session is closed.',
    },
    h('div.name', {}, h('span.muted', {}, `#${row.id}`)),
    h('div.sub', {}, h('span.pill.grey', {}, 'in a blind session'), h('span.muted', {}, row.task)),
  )
