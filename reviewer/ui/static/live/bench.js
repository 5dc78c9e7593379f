// The bench: the spectra that a person has added, from files dropped anywhere on the tab or from the library.

import { cap, fill, h } from '../common/dom.js'
import { getJSON, postForm, postJSON, remove } from '../common/http.js'
import { Keys, isComposing } from '../common/keys.js'
import { t, tn, word } from '../common/language.js'
import { confirmed, openPanel } from '../common/panels.js'
import { nameInQueue, surveyOf } from '../spectrum/item_header.js'
import { sparkline } from '../spectrum/sparklines.js'
import { TONES, resultLabel } from './labels.js'

export class Bench {
  #drawn = ''

  /**
   * @param {HTMLElement} tab where files may be dropped
   * @param {{onSelect: (id: string) => void, onRemove: (id: string) => void, onAdded: (rows: BenchRow[]) => void,
   *   onLibrary: () => void, onRunAll: () => void, onClear: () => void,
   *   statusOf: (row: BenchRow) => {running?: string, result?: RunSummary, by?: string}}} callbacks
   */
  constructor(tab, callbacks) {
    this.on = callbacks
    /** @type {BenchRow[]} */
    this.rows = []
    /** @type {string | null} */
    this.current = null
    /** @type {string[]} names of the files being read */
    this.reading = []
    this.runningAll = false
    const onChange = () => {
      this.#addFiles([...(this.files.files ?? [])])
      this.files.value = ''
    }
    this.files = h('input', { type: 'file', multiple: true, hidden: true, onChange })
    this.title = h('div.queue-title')
    this.problems = h('div.problems', { role: 'status' })
    this.list = h('div.rows', { role: 'list', 'aria-label': t('Bench') })
    const words = [h('strong', t('Drop spectra here')), h('span', t('or choose files'))]
    const drop = h('button.drop', { onClick: () => this.choose() }, words)
    const props = { onClick: () => this.on.onLibrary() }
    const library = h('button.library', props, t('from the library'), ' ', cap(Keys.of('library')))
    this.root = h('aside.queue', this.title, h('div.bring', drop, library), this.files, this.problems, this.list)
    this.#listen(tab)
    this.draw()
  }

  choose = () => this.files.click()

  /** @param {BenchRow[]} rows */
  show(rows) {
    this.rows = rows
    this.draw()
  }

  /** @param {string} id */
  select(id) {
    this.current = id
    this.draw()
    this.list.querySelector('.current')?.scrollIntoView({ block: 'nearest' })
  }

  /** @param {string | null} id */
  row = (id) => this.rows.find((row) => row.id === id) ?? null

  /** Draw, if anything has changed: rows are not replaced under the pointer otherwise. */
  draw() {
    const { rows, current, reading, runningAll, on } = this
    const key = JSON.stringify([rows, rows.map(on.statusOf), current, reading, runningAll])
    if (key === this.#drawn) return
    this.#drawn = key
    const focused = this.list.contains(document.activeElement)
      ? document.activeElement?.closest('.row')?.dataset.bench
      : null
    const link = (title, onClick, ...text) => rows.length > 1 && h('button.link', { title, onClick }, text)
    const runAll = t('one after the other, with the question and the policy below')
    fill(
      this.title,
      h(
        'div.top',
        h('strong', t('Bench')),
        h('span.muted', { title: t('spectra on the bench') }, rows.length ? String(rows.length) : t('empty')),
        link(runAll, on.onRunAll, runningAll ? t('stop all') : t('run all'), ' ', cap(Keys.of('run-all'))),
        link(t('Take all spectra off the bench'), on.onClear, t('clear')),
      ),
    )
    fill(
      this.list,
      rows.map((row) => this.#row(row)),
      reading.map((name) => h('div.row.reading', { role: 'listitem' }, h('span.spinner'), ' ', name)),
    )
    if (focused) this.list.querySelector(`[data-bench="${focused}"] .pick`)?.focus()
  }

  /** @param {BenchRow} row */
  #row(row) {
    const { id, name } = row
    const { running, result, by } = this.on.statusOf(row)
    const pill = result && `span.pill.${TONES[result.outcome ?? ''] ?? 'grey'}`
    const answer = result && (result.outcome ? word(result.outcome) : resultLabel(result))
    const isCurrent = id === this.current
    const off = { 'aria-label': t('remove {name} from the bench', { name }), title: t('remove from the bench') }
    return h(
      `div.row${isCurrent ? '.current' : ''}`,
      { 'data-bench': id, role: 'listitem' },
      h(
        'button.pick',
        { title: name, 'aria-current': String(isCurrent), onClick: () => this.on.onSelect(id) },
        h('div.name', nameInQueue(name)),
        sparkline(row.spectrum),
        h(
          'div.sub',
          running && h('span.running', h('span.spinner'), ` ${running}`),
          pill && h(pill, { title: t('the newest run that answered') }, answer),
          row.simulated && h('span.pill.grey', t('simulated')),
          h('span.muted', facts(by, row)),
        ),
      ),
      h('button.off', { ...off, onClick: () => this.on.onRemove(id) }, '×'),
    )
  }

  // ---- files

  /** @param {HTMLElement} tab */
  #listen(tab) {
    const holdsFiles = (event) => event.dataTransfer?.types.includes('Files')
    tab.addEventListener('dragover', (event) => {
      if (!holdsFiles(event)) return
      event.preventDefault()
      tab.classList.add('dropping')
    })
    tab.addEventListener('dragleave', ({ relatedTarget }) => {
      if (!tab.contains(/** @type {Node | null} */ (relatedTarget))) tab.classList.remove('dropping')
    })
    tab.addEventListener('drop', (event) => {
      if (!holdsFiles(event)) return
      event.preventDefault()
      tab.classList.remove('dropping')
      this.#addFiles([...(event.dataTransfer?.files ?? [])])
    })
  }

  /** Upload one file at a time: the first is on the bench while the others are being sent. @param {File[]} files */
  async #addFiles(files) {
    fill(this.problems)
    this.reading.push(...files.map((file) => file.name))
    this.draw()
    let first = true
    for (const file of files) {
      try {
        const form = new FormData()
        form.append('files', file)
        const { added, problems } = await postForm('/api/v1/live/files', form)
        for (const message of problems) this.#problem(message)
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

  /** @param {string} message */
  #problem(message) {
    const close = h('button.link', { 'aria-label': t('close'), onClick: () => problem.remove() }, '✕')
    const problem = h('p', message, close)
    this.problems.append(problem)
  }
}

/** The facts below the name of a spectrum. @param {string | undefined} first @param {BenchRow | LibraryRow} row */
const facts = (first, row) =>
  [first, surveyOf(row), row.snr !== null && `S/N ${Math.round(row.snr)}`].filter(Boolean).join(' · ')

/** Adds spectra to the bench and removes them. */
export class AddSpectra {
  /**
   * @param {{tasks: Record<string, TaskText>, bench: Bench, notices: import('../common/notices.js').Notices,
   *   findRun: (id: string) => Promise<Run>, isRunning: () => boolean, select: (id: string) => Promise<void>,
   *   setTask: (task: string) => void, showEmpty: () => void}} options `isRunning`: whether the run shown is running;
   *   `select`: a row of the bench; `setTask`: of the next run
   */
  constructor(options) {
    this.on = options
    this.bench = options.bench
    this.notices = options.notices
  }

  /** Load the bench from the server, with the runs in progress. */
  async load() {
    const { bench } = this
    bench.show(await getJSON('/api/v1/live/bench'))
    const results = bench.rows.flatMap((row) => row.results)
    const running = results.filter(({ state }) => state === 'running')
    await Promise.all(running.map(({ run }) => this.on.findRun(run).catch(() => null)))
    bench.draw()
  }

  /** Files have been read: select the first, unless a run is being watched. @param {BenchRow[]} rows */
  added(rows) {
    if (this.on.isRunning()) this.bench.draw()
    else this.on.select(rows[0].id)
  }

  /** @param {string} id */
  async remove(id) {
    const { bench } = this
    const at = bench.rows.findIndex((row) => row.id === id)
    try {
      await remove(`/api/v1/live/bench/${id}`)
      bench.show(bench.rows.filter((row) => row.id !== id))
      if (bench.row(bench.current)) return
      const next = bench.rows[Math.min(at, bench.rows.length - 1)]
      if (next) await this.on.select(next.id)
      else this.on.showEmpty()
    } catch (error) {
      this.notices.error(error)
    }
  }

  /** Take all spectra off the bench, once the person has confirmed it. */
  async clear() {
    const { length: n } = this.bench.rows
    const lines = [
      tn('{n} spectrum leaves the bench.', '{n} spectra leave the bench.', n),
      t('Runs in progress are stopped. Earlier runs are back when the same spectrum is added again.'),
    ]
    if (!(await confirmed(t('Clear the bench?'), lines, t('Clear the bench')))) return
    try {
      await remove('/api/v1/live/bench')
      this.bench.show([])
      this.on.showEmpty()
    } catch (error) {
      this.notices.error(error)
    }
  }

  /** Let the person pick a spectrum of the library; its task becomes that of the next run. */
  async fromLibrary() {
    const picked = await pickFromLibrary(this.on.tasks)
    if (picked) await this.#add(picked)
  }

  async tryOne() {
    try {
      const [first] = await findInLibrary('', 1)
      if (first) await this.#add(first)
      else this.notices.show(NO_SPECTRA)
    } catch (error) {
      this.notices.error(error)
    }
  }

  /** @param {LibraryRow} row */
  async #add({ item, task }) {
    const { bench } = this
    try {
      const row = await postJSON('/api/v1/live/bench', { item })
      if (!bench.row(row.id)) bench.show([...bench.rows, row])
      if (task in this.on.tasks) this.on.setTask(task)
      await this.on.select(row.id)
    } catch (error) {
      this.notices.error(error)
    }
  }
}

const MOST_FOUND = 30
const NO_SPECTRA = t('The library holds no spectra yet. Drop a file on the page instead.')

/** Spectra of the library that match some words, the best match first. @returns {Promise<LibraryRow[]>} */
const findInLibrary = (/** @type {string} */ words, limit = MOST_FOUND) =>
  getJSON(`/api/v1/live/library?${new URLSearchParams({ q: words, limit: String(limit) })}`)

/** @param {Record<string, TaskText>} tasks @returns {Promise<LibraryRow | null>} the one that the person picks */
function pickFromLibrary(tasks) {
  return openPanel(t('From the library'), (close, dialog) => {
    const list = h('div.found', { role: 'listbox', 'aria-label': t('Spectra in the library') })
    let tickets = 0
    const search = async () => {
      const ticket = ++tickets
      const words = field.value.trim()
      const answer = await findInLibrary(words).catch((error) => h('p.note.look', error.message))
      if (ticket !== tickets) return
      const wasIn = list.contains(document.activeElement)
      const nothing = h('p.muted', words ? t('Nothing in the library matches these words.') : NO_SPECTRA)
      const options = Array.isArray(answer) ? answer.map((row) => option(row, tasks, close)) : [answer]
      fill(list, options.length ? options : nothing)
      if (wasIn) (list.querySelector('button') ?? field).focus()
    }
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    const field = h('input', {
      type: 'search',
      placeholder: `${t('Name or id')}: ${t('part of it, or #123')}`,
      'aria-label': t('Search the library'),
      autocomplete: 'off',
      onInput: () => {
        clearTimeout(timer)
        timer = setTimeout(search, 150)
      },
      onKeydown: (event) => {
        if (event.key !== 'Enter' || isComposing(event)) return
        event.preventDefault()
        list.querySelector('button')?.click()
      },
    })
    dialog.addEventListener('keydown', (event) => moveFocus(event, [field, ...list.querySelectorAll('button')]))
    search()
    queueMicrotask(() => field.focus())
    return h('div.picking', field, list)
  })
}

/** @param {LibraryRow} row @param {Record<string, TaskText>} tasks @param {(row: LibraryRow) => void} pick */
function option(row, tasks, pick) {
  return h(
    'button.option',
    { role: 'option', onClick: () => pick(row) },
    h('span.name', row.name),
    sparkline(row.spectrum),
    h('span.muted', facts(tasks[row.task]?.title ?? row.task, row)),
    row.simulated && h('span.pill.grey', t('simulated')),
  )
}

/** Arrow keys move through the field and the results. @param {KeyboardEvent} event @param {HTMLElement[]} places */
function moveFocus(event, places) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!by) return
  event.preventDefault()
  const at = places.findIndex((place) => place === document.activeElement)
  places[Math.max(0, Math.min(places.length - 1, at + by))]?.focus()
}
