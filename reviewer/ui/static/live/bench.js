// The bench: the spectra a person has brought, in the queue's place. Files are dropped anywhere on the tab.

import { cap, fill, h } from '../common/dom.js'
import { getJSON, postForm, postJSON, remove } from '../common/http.js'
import { openPanel } from '../common/panels.js'
import { nameInQueue, surveyOf } from '../common/item_header.js'
import { TONES } from './labels.js'

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

export class Bringing {
  /** @param desk  the Live page */
  constructor(desk) {
    this.desk = desk
  }

  /** The bench as the server has it, each row's last run found again. */
  async load() {
    const { bench, runs } = this.desk
    bench.show(await getJSON('/api/live/bench'))
    // A run that is not kept any more leaves its row as one that was not asked about.
    await Promise.all(
      bench.rows.filter((row) => row.runs.length).map((row) => runs.find(row.runs.at(-1)).catch(() => null)),
    )
    bench.draw()
  }

  /** Files have been read: the first is put in front, unless somebody watches a run. */
  added(rows) {
    if (this.desk.shownRun?.state === 'running') this.desk.bench.draw()
    else this.desk.select(rows[0].id)
  }

  async takeOff(id) {
    const { bench } = this.desk
    const at = bench.rows.findIndex((row) => row.id === id)
    try {
      await remove(`/api/live/bench/${id}`)
      bench.show(bench.rows.filter((row) => row.id !== id))
      if (bench.row(bench.current)) return
      const next = bench.rows[Math.min(at, bench.rows.length - 1)]
      if (next) await this.desk.select(next.id)
      else this.desk.showEmpty()
    } catch (error) {
      this.desk.tell(error)
    }
  }

  /** Let the person pick a spectrum of the library, and the question it is there for. */
  async fromLibrary() {
    const picked = await pickFromLibrary(this.desk.me.tasks)
    if (picked) await this.#take(picked)
  }

  async tryOne() {
    try {
      const [first] = await findInLibrary('', 1)
      if (first) await this.#take(first)
      else this.desk.notice('The library holds no spectra yet. Drop a file on the page instead.')
    } catch (error) {
      this.desk.tell(error)
    }
  }

  async #take({ item, task }) {
    const { bench, bar, me } = this.desk
    try {
      const made = await postJSON('/api/live/bench', { item })
      if (!bench.row(made.id)) bench.show([...bench.rows, made])
      if (task in me.tasks) bar.setTask(task)
      await this.desk.select(made.id)
    } catch (error) {
      this.desk.tell(error)
    }
  }
}

const SHOWN = 30

/** Spectra that fit some words, most fitting first. */
export const findInLibrary = (q, limit = SHOWN) => getJSON(`/api/live/library?${new URLSearchParams({ q, limit })}`)

/** Let the person pick one. Resolves with its row of the library, or null. */
export function pickFromLibrary(tasks) {
  return openPanel(
    'From the library',
    (dialog) => {
      const found = h('div.found', { role: 'listbox', 'aria-label': 'Spectra in the library' })
      const take = (row) => {
        dialog.result = row
        dialog.close()
      }
      let asked = 0
      const look = async () => {
        const ticket = ++asked
        let rows
        try {
          rows = await findInLibrary(field.value.trim())
        } catch (error) {
          fill(found, h('p.note.look', {}, error.message))
          return
        }
        if (ticket !== asked) return
        fill(
          found,
          rows.map((row) => option(row, tasks, take)),
          !rows.length &&
            h(
              'p.muted',
              {},
              field.value.trim()
                ? 'Nothing in the library fits these words.'
                : 'The library holds no spectra yet. Drop a file on the page instead.',
            ),
        )
      }
      let soon
      const field = h('input', {
        type: 'search',
        placeholder: 'part of a name, a survey, a class',
        'aria-label': 'Search the library',
        autocomplete: 'off',
        onInput: () => {
          clearTimeout(soon)
          soon = setTimeout(look, 150)
        },
        onKeydown: (event) => {
          if (event.key === 'Enter') {
            event.preventDefault()
            found.querySelector('button')?.click()
          }
        },
      })
      dialog.addEventListener('keydown', (event) => walk(event, [field, ...found.querySelectorAll('button')]))
      look()
      queueMicrotask(() => field.focus())
      return h('div.picking', {}, field, found)
    },
    { wide: false },
  )
}

function option(row, tasks, take) {
  return h(
    'button.option',
    { type: 'button', role: 'option', onClick: () => take(row) },
    h('span.name', {}, row.name),
    h(
      'span.muted',
      {},
      [tasks[row.task]?.title ?? row.task, surveyOf(row), row.snr !== null && `S/N ${Math.round(row.snr)}`]
        .filter(Boolean)
        .join(' · '),
    ),
    row.simulated && h('span.pill.grey', {}, 'simulated'),
  )
}

/** Arrow keys go through the field and what was found. */
function walk(event, places) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!by) return
  event.preventDefault()
  const at = places.indexOf(document.activeElement)
  places[Math.max(0, Math.min(places.length - 1, at + by))]?.focus()
}
