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
    this.root = h('aside.queue')
    this.on = callbacks
    /** @type {BenchRow[]} */
    this.rows = []
    /** @type {string | null} */
    this.current = null
    /** @type {string[]} names of the files being read */
    this.reading = []
    this.runningAll = false
    this.files = h('input', {
      type: 'file',
      multiple: true,
      hidden: true,
      onChange: () => {
        this.#addFiles([...(this.files.files ?? [])])
        this.files.value = ''
      },
    })
    this.title = h('div.queue-title')
    this.problems = h('div.problems', { role: 'status' })
    this.list = h('div.rows', { role: 'list', 'aria-label': t('Bench') })
    fill(
      this.root,
      this.title,
      h(
        'div.bring',
        h(
          'button.drop',
          { onClick: () => this.choose() },
          h('strong', t('Drop spectra here')),
          h('span', t('or choose files')),
        ),
        h(
          'button.library',
          { onClick: () => this.on.onLibrary() },
          t('from the library'),
          ' ',
          cap(Keys.of('library')),
        ),
      ),
      this.files,
      this.problems,
      this.list,
    )
    this.#listen(tab)
    this.draw()
  }

  /** Open the file dialog. */
  choose() {
    this.files.click()
  }

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
    const key = JSON.stringify([
      this.rows,
      this.rows.map((row) => this.on.statusOf(row)),
      this.current,
      this.reading,
      this.runningAll,
    ])
    if (key === this.#drawn) return
    this.#drawn = key
    const focused = this.list.contains(document.activeElement)
      ? document.activeElement?.closest('.row')?.dataset.bench
      : null
    const count = this.rows.length
    fill(
      this.title,
      h(
        'div.top',
        h('strong', t('Bench')),
        h('span.muted', { title: t('spectra on the bench') }, count ? String(count) : t('empty')),
        count > 1 &&
          h(
            'button.link',
            {
              title: t('one after the other, with the question and the policy below'),
              onClick: () => this.on.onRunAll(),
            },
            this.runningAll ? t('stop all') : t('run all'),
            ' ',
            cap(Keys.of('run-all')),
          ),
        count > 1 &&
          h(
            'button.link',
            { title: t('Take all spectra off the bench'), onClick: () => this.on.onClear() },
            t('clear'),
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

  /** @param {BenchRow} row */
  #row(row) {
    const { running, result, by } = this.on.statusOf(row)
    return h(
      `div.row${row.id === this.current ? '.current' : ''}`,
      { 'data-bench': row.id, role: 'listitem' },
      h(
        'button.pick',
        { title: row.name, 'aria-current': String(row.id === this.current), onClick: () => this.on.onSelect(row.id) },
        h('div.name', nameInQueue(row.name)),
        sparkline(row.spectrum),
        h(
          'div.sub',
          running && h('span.running', h('span.spinner'), ` ${running}`),
          result &&
            h(
              `span.pill.${TONES[result.outcome ?? ''] ?? 'grey'}`,
              { title: t('the newest run that answered') },
              result.outcome ? word(result.outcome) : resultLabel(result),
            ),
          row.simulated && h('span.pill.grey', t('simulated')),
          h(
            'span.muted',
            [by, surveyOf(row), row.snr !== null && `S/N ${Math.round(row.snr)}`].filter(Boolean).join(' · '),
          ),
        ),
      ),
      h(
        'button.off',
        {
          'aria-label': t('remove {name} from the bench', { name: row.name }),
          title: t('remove from the bench'),
          onClick: () => this.on.onRemove(row.id),
        },
        '×',
      ),
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
    tab.addEventListener(
      'dragleave',
      (event) => !tab.contains(/** @type {Node | null} */ (event.relatedTarget)) && tab.classList.remove('dropping'),
    )
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
    const problem = h(
      'p',
      message,
      h('button.link', { 'aria-label': t('close'), onClick: () => problem.remove() }, '✕'),
    )
    this.problems.append(problem)
  }
}

/**
 * @typedef {Object} AddSpectraOptions
 * @property {Record<string, TaskText>} tasks
 * @property {Bench} bench
 * @property {import('../common/notices.js').Notices} notices
 * @property {(id: string) => Promise<Run>} findRun
 * @property {() => boolean} isRunning whether the run shown is running
 * @property {(id: string) => Promise<void>} select a row of the bench
 * @property {(task: string) => void} setTask of the next run
 * @property {() => void} showEmpty
 */

/** Adds spectra to the bench and removes them. */
export class AddSpectra {
  /** @param {AddSpectraOptions} options */
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
      else this.notices.show(t('The library holds no spectra yet. Drop a file on the page instead.'))
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

/** Spectra of the library that match some words, the best match first. @returns {Promise<LibraryRow[]>} */
const findInLibrary = (/** @type {string} */ words, limit = MOST_FOUND) =>
  getJSON(`/api/v1/live/library?${new URLSearchParams({ q: words, limit: String(limit) })}`)

/** @param {Record<string, TaskText>} tasks @returns {Promise<LibraryRow | null>} the one that the person picks */
function pickFromLibrary(tasks) {
  return openPanel(
    t('From the library'),
    (close, dialog) => {
      const list = h('div.found', { role: 'listbox', 'aria-label': t('Spectra in the library') })
      let tickets = 0
      const search = async () => {
        const ticket = ++tickets
        let rows
        try {
          rows = await findInLibrary(field.value.trim())
        } catch (error) {
          if (ticket === tickets) fill(list, h('p.note.look', error.message))
          return
        }
        if (ticket !== tickets) return
        const wasIn = list.contains(document.activeElement)
        fill(
          list,
          rows.map((row) => option(row, tasks, close)),
          !rows.length &&
            h(
              'p.muted',
              field.value.trim()
                ? t('Nothing in the library matches these words.')
                : t('The library holds no spectra yet. Drop a file on the page instead.'),
            ),
        )
        if (wasIn) (list.querySelector('button') ?? field).focus()
      }
      /** @type {ReturnType<typeof setTimeout> | undefined} */
      let timer
      const field = h('input', {
        type: 'search',
        placeholder: t('part of a name, a survey, a class'),
        'aria-label': t('Search the library'),
        autocomplete: 'off',
        onInput: () => {
          clearTimeout(timer)
          timer = setTimeout(search, 150)
        },
        onKeydown: (event) => {
          if (event.key === 'Enter' && !isComposing(event)) {
            event.preventDefault()
            list.querySelector('button')?.click()
          }
        },
      })
      dialog.addEventListener('keydown', (event) => moveFocus(event, [field, ...list.querySelectorAll('button')]))
      search()
      queueMicrotask(() => field.focus())
      return h('div.picking', field, list)
    },
    { wide: false },
  )
}

/** @param {LibraryRow} row @param {Record<string, TaskText>} tasks @param {(row: LibraryRow) => void} pick */
function option(row, tasks, pick) {
  return h(
    'button.option',
    { role: 'option', onClick: () => pick(row) },
    h('span.name', row.name),
    sparkline(row.spectrum),
    h(
      'span.muted',
      [tasks[row.task]?.title ?? row.task, surveyOf(row), row.snr !== null && `S/N ${Math.round(row.snr)}`]
        .filter(Boolean)
        .join(' · '),
    ),
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
