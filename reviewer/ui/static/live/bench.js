// The bench: the spectra a person has brought, in the queue's place. Files are dropped anywhere on the tab.

import { cap, fill, h } from '../common/dom.js'
import { postForm } from '../common/http.js'
import { TONES } from './words.js'
import { nameInQueue, surveyOf } from '../review/queue_view.js'

export class Bench {
  /**
   * @param {HTMLElement} root  the column
   * @param {HTMLElement} tab  where files may be dropped
   * @param {{onSelect, onRemove, onAdded, onLibrary, onRunAll, onProblem, statusOf: (row: Object) => {running?: string, outcome?: string}}} callbacks
   */
  constructor(root, tab, callbacks) {
    this.root = root
    this.on = callbacks
    this.rows = []
    this.current = null
    this.reading = [] // names of the files on their way
    this.files = h('input', {
      type: 'file',
      multiple: true,
      hidden: true,
      onChange: () => {
        this.#take([...this.files.files])
        this.files.value = ''
      },
    })
    this.title = h('div.queue-title')
    this.problems = h('ul.problems', { role: 'status' })
    this.list = h('div.rows', { role: 'list', 'aria-label': 'Bench' })
    fill(
      root,
      this.title,
      h(
        'div.bring',
        {},
        h(
          'button.drop',
          { type: 'button', onClick: () => this.choose() },
          h('strong', {}, 'Drop spectra here'),
          h('span', {}, 'or choose files'),
        ),
        h('button.library', { type: 'button', onClick: () => this.on.onLibrary() }, 'from the library ', cap('/')),
      ),
      this.files,
      this.problems,
      this.list,
    )
    this.#listen(tab)
    this.draw()
  }

  choose() {
    this.files.click()
  }

  show(rows) {
    this.rows = rows
    this.draw()
  }

  select(id) {
    this.current = id
    this.draw()
    this.list.querySelector('.current')?.scrollIntoView({ block: 'nearest' })
  }

  row = (id) => this.rows.find((row) => row.id === id) ?? null

  /** Draw what is new: a row that stays the same is not put in anew under somebody's pointer. */
  draw() {
    const key = JSON.stringify([
      this.rows,
      this.rows.map((row) => this.on.statusOf(row)),
      this.current,
      this.reading,
      this.runningAll,
    ])
    if (key === this.drawn) return
    this.drawn = key
    const focused = this.list.contains(document.activeElement)
      ? document.activeElement.closest('.row')?.dataset.bench
      : null
    const count = this.rows.length
    fill(
      this.title,
      h(
        'div.top',
        {},
        h('strong', {}, 'Bench'),
        h('span.muted', { title: 'spectra on the bench' }, count ? String(count) : 'empty'),
        count > 1 &&
          h(
            'button.link',
            {
              type: 'button',
              title: 'one after the other, with the question and the policy below',
              onClick: () => this.on.onRunAll(),
            },
            this.runningAll ? 'stop all' : 'run all',
            ' ',
            cap('A'),
          ),
      ),
    )
    fill(
      this.list,
      this.rows.map((row) => this.#row(row)),
      this.reading.map((name) => h('div.row.reading', { role: 'listitem' }, h('span.spinner'), ' ', name)),
    )
    if (focused) this.list.querySelector(`[data-bench="${focused}"] .pick`)?.focus()
  }

  #row(row) {
    const { running, outcome } = this.on.statusOf(row)
    return h(
      `div.row${row.id === this.current ? '.current' : ''}`,
      { 'data-bench': row.id, role: 'listitem' },
      h(
        'button.pick',
        {
          type: 'button',
          title: row.name,
          'aria-current': String(row.id === this.current),
          onClick: () => this.on.onSelect(row.id),
        },
        h('div.name', {}, nameInQueue(row.name)),
        h(
          'div.sub',
          {},
          running && h('span.running', {}, h('span.spinner'), ` ${running}`),
          outcome && h(`span.pill.${TONES[outcome] ?? 'grey'}`, {}, outcome),
          row.simulated && h('span.pill.grey', {}, 'simulated'),
          h(
            'span.muted',
            {},
            [surveyOf(row), row.snr !== null && `S/N ${Math.round(row.snr)}`].filter(Boolean).join(' · '),
          ),
        ),
      ),
      h(
        'button.off',
        {
          type: 'button',
          'aria-label': `take ${row.name} off the bench`,
          title: 'take it off the bench',
          onClick: () => this.on.onRemove(row.id),
        },
        '×',
      ),
    )
  }

  // ---- files

  #listen(tab) {
    const holdsFiles = (event) => event.dataTransfer?.types.includes('Files')
    tab.addEventListener('dragover', (event) => {
      if (!holdsFiles(event)) return
      event.preventDefault()
      tab.classList.add('dropping')
    })
    tab.addEventListener('dragleave', (event) => !tab.contains(event.relatedTarget) && tab.classList.remove('dropping'))
    tab.addEventListener('drop', (event) => {
      if (!holdsFiles(event)) return
      event.preventDefault()
      tab.classList.remove('dropping')
      this.#take([...event.dataTransfer.files])
    })
  }

  /** One file at a time: the first is on the bench while the others travel. */
  async #take(files) {
    fill(this.problems)
    this.reading.push(...files.map((file) => file.name))
    this.draw()
    let first = true
    for (const file of files) {
      try {
        const form = new FormData()
        form.append('files', file)
        const { added, problems } = await postForm('/api/live/files', form)
        for (const sentence of problems) this.#problem(sentence)
        this.rows.push(...added.filter((row) => !this.row(row.id)))
        if (added.length && first) this.on.onAdded(added)
        first &&= added.length === 0
      } catch (error) {
        this.#problem(`${file.name}: ${error.message}`)
      }
      this.reading.splice(this.reading.indexOf(file.name), 1)
      this.draw()
    }
  }

  #problem(sentence) {
    const problem = h(
      'li',
      {},
      sentence,
      h('button.link', { type: 'button', 'aria-label': 'close', onClick: () => problem.remove() }, '✕'),
    )
    this.problems.append(problem)
  }
}
