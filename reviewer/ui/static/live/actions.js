// What the keys and buttons of the Live tab do: run, stop, send to review, move between rows, steps and samples.

import { address } from '../common/address.js'
import { downloads, observedRange } from '../spectrum/downloads.js'
import { postJSON } from '../common/http.js'
import { t } from '../common/language.js'
import * as panels from '../common/panels.js'
import { openItem } from '../common/links.js'
import { toggleTheme } from '../common/theme.js'
import { neighbour, runLabel } from './labels.js'

export class RunControls {
  #starting = false

  /**
   * @param {{view: import('./run_view.js').RunView, runs: import('./runs.js').Runs, bench: import('./bench.js').Bench,
   *   notices: import('../common/notices.js').Notices, select: (id: string) => Promise<void>, showBar: () => void,
   *   settings: () => RunSettings}} options `select`: a row of the bench; `settings`: of the next run
   */
  constructor({ view, runs, bench, notices, select, showBar, settings }) {
    this.view = view
    this.runs = runs
    this.bench = bench
    this.notices = notices
    this.select = select
    this.showBar = showBar
    this.settings = settings
  }

  /** Run on the spectrum in front. */
  async run() {
    const row = this.view.current?.row
    if (!row) return this.notices.toast(t('First add a spectrum to the bench: drop a file, or press /.'))
    if (this.running) return this.notices.toast(t('It is running. Esc stops it.'))
    if (this.#starting) return
    this.#starting = true
    try {
      await this.#start(row)
    } catch (error) {
      this.notices.error(error, t('Nothing was started.'))
    }
    this.#starting = false
  }

  /** @param {BenchRow} row */
  async #start(row) {
    this.notices.clear()
    const run = await this.runs.start(row, this.settings())
    row.chosen = run.id
    if (this.view.current?.row.id === row.id) await this.view.showRun(run)
    this.bench.draw()
    return run
  }

  /** Run on every spectrum of the bench in turn. Called again, start no further run. */
  async runAll() {
    const { bench } = this
    if (bench.runningAll) {
      this.#endRunningAll()
      return void this.stop()
    }
    bench.runningAll = true
    let last = this.view.current?.row.id
    try {
      for (const row of [...bench.rows]) {
        if (!bench.runningAll) break
        if (!bench.row(row.id) || this.runs.runningOn(row)) continue
        // If the person has selected another spectrum meanwhile, it stays selected.
        if (this.view.current?.row.id === last) await this.select(row.id)
        last = row.id
        const run = await this.#start(row)
        await run.over
      }
    } catch (error) {
      this.notices.error(error, t('The rest of the bench was not run.'))
    }
    this.#endRunningAll()
  }

  #endRunningAll() {
    this.bench.runningAll = false
    this.bench.draw()
  }

  /** The run in progress on the spectrum in front, whichever of its runs is shown. */
  get running() {
    const row = this.view.current?.row
    return row ? this.runs.runningOn(row) : null
  }

  /** Stop the run on the spectrum in front; false where none is running. */
  stop() {
    const run = this.running
    if (!run) return false
    if (!run.stopping) this.runs.stop(run).catch((error) => this.notices.error(error, t('It could not be stopped.')))
    return true
  }

  /** Remove a run, once the person has confirmed it where it has an answer or is running. @param {string} id */
  async remove(id) {
    const row = this.bench.rows.find(({ results }) => results.some(({ run }) => run === id))
    const result = row && this.runs.resultsOf(row).find(({ run }) => run === id)
    if (!row || !result) return
    const label = runLabel(result, this.runs.on.titleOf(result.policy))
    const lines = [label, t('Its trace is lost. What was sent to review stays there.')]
    const isWorth = result.state === 'running' || result.verdicts.some((verdict) => verdict !== null)
    if (isWorth && !(await panels.confirmed(t('Remove this run?'), lines, t('Remove the run')))) return
    try {
      await this.runs.remove(id)
      await this.drop([id])
    } catch (error) {
      this.notices.error(error, t('The run was not removed.'))
    }
  }

  /** Runs are gone: so are their tabs, and another run is shown in place of the one shown. @param {string[]} ids */
  async drop(ids) {
    for (const id of ids) {
      this.runs.forget(id)
      this.view.forget(id)
    }
    for (const row of this.bench.rows) row.results = row.results.filter(({ run }) => !ids.includes(run))
    const { row } = this.view.current ?? {}
    if (row && this.view.run && ids.includes(this.view.run.id)) await this.select(row.id)
    this.bench.draw()
    this.view.draw()
  }

  /** @param {Run} run @param {number} sample */
  putOnTrial(run, sample) {
    this.notices.clear()
    this.runs.putOnTrial(run, sample).catch((error) => this.notices.error(error, t('No trial was started.')))
  }

  /** @param {Run} run @param {number} sample */
  stopTrial(run, sample) {
    this.runs.stopTrial(run, sample).catch((error) => this.notices.error(error, t('It could not be stopped.')))
  }

  /** The samples to send to review: the one shown, or all if the vote is shown. A sample without steps is no draft. */
  get sendable() {
    const { run, sample } = this.view
    if (!run) return []
    const chosen = sample === 'vote' ? run.traces.map((_, at) => at) : [sample]
    return chosen.filter((at) => run.traces[at].ended && run.traces[at].steps.length)
  }

  async send() {
    const { run } = this.view
    const samples = this.sendable.filter((sample) => !run?.sent.has(sample))
    if (!run || !samples.length) return
    try {
      const { items } = await postJSON(`/api/v1/live/runs/${run.id}/review`, { samples })
      samples.forEach((sample, at) => run.sent.set(sample, items[at].item))
      this.showBar()
      const onClick = () => openItem(items[0].item)
      const label = items[0].item === null ? null : t('Open it')
      this.notices.show(sentMessage(items), { label, onClick, tone: 'good' })
    } catch (error) {
      this.notices.error(error, t('It was not sent.'))
    }
  }

  get downloads() {
    const { run, current, spectrum } = this.view
    const sample = this.view.sample === 'vote' ? 0 : this.view.sample
    const url = run ? address(`/api/v1/live/runs/${run.id}`) : address(`/api/v1/live/bench/${current?.row.id}`)
    const files = [
      { text: t('Trace'), format: 'JSON', url: `${url}/trace.json?sample=${sample}` },
      { text: t('Pictures'), format: t('one PNG'), url: `${url}/strip.png?sample=${sample}` },
      { text: t('Report'), format: t('Markdown, zip'), url: `${url}/report.zip?sample=${sample}` },
    ]
    return [...(run ? files : []), ...downloads(url, observedRange(spectrum.view), run ? { sample } : {})]
  }
}

/** @param {{item: number | null, new: boolean}[]} items `item`: null while its answer is hidden from this person */
function sentMessage(items) {
  if (items.some(({ item }) => item === null))
    return t('It is in the queue already; its number is shown once you have given your verdict on it there.')
  const ids = items.map(({ item }) => `#${item}`).join(', ')
  if (items.length > 1) return t('Items {ids} are in the queue.', { ids })
  return items[0].new ? t('Item {ids} is in the queue.', { ids }) : t('Item {ids} was in the queue already.', { ids })
}

/**
 * The handler of all actions of the keymap.
 * @param {{controls: RunControls, adding: import('./bench.js').AddSpectra, openSettings: () => void,
 *   toggleBench: () => void, keySheet: () => HTMLElement}} options
 * @returns {(action: string) => boolean | void} false leaves the key to the browser
 */
export function liveActions({ controls, adding, openSettings, toggleBench, keySheet }) {
  const { view, bench, select } = controls
  /** Close a sheet, or leave a field, before stopping a run. */
  const stop = () => {
    const sheet = document.querySelector(':popover-open')
    if (sheet) return sheet.hidePopover()
    if (view.spectrum.view.width.on) return void view.spectrum.view.command('width-off')
    const focused = document.activeElement
    if (focused instanceof HTMLElement && focused.matches('input, select, textarea')) return focused.blur()
    return controls.stop()
  }

  const selectRow = (/** @type {number} */ by) => {
    const at = bench.rows.findIndex((row) => row.id === view.current?.row.id)
    const to = neighbour(bench.rows, at, by)
    if (to) select(to.id)
  }

  /** @type {Record<string, () => unknown>} */
  const table = {
    run: () => controls.run(),
    stop,
    'run-all': () => controls.runAll(),
    send: () => controls.send(),
    settings: openSettings,
    next: () => selectRow(1),
    back: () => selectRow(-1),
    library: () => adding.fromLibrary(),
    files: bench.choose,
    off: () => view.current && adding.remove(view.current.row.id),
    queue: toggleBench,
    'step-next': () => view.chooseNext(1),
    'step-back': () => view.chooseNext(-1),
    follow: () => view.trace.follow(),
    'run-next': () => view.showNextRun(1),
    'run-back': () => view.showNextRun(-1),
    'remove-run': () => view.run && controls.remove(view.run.id),
    compare: () => (view.comparison.shown ? view.closeComparison() : view.comparison.choose()),
    'sample-next': () => view.showNextSample(1),
    'sample-back': () => view.showNextSample(-1),
    vote: () => view.run?.consensus && view.showSample('vote'),
    evidence: () => view.spectrum.evidence.toggle(),
    catalogues: () => view.spectrum.evidence.show('sky'),
    guide: () => view.spectrum.evidence.show('guide'),
    dark: toggleTheme,
    keys: () => panels.openPanel(t('Keys'), keySheet(), { wide: true }),
  }

  return (action) => {
    const act = table[action]
    if (act) return act() === false ? false : undefined
    return view.spectrum.view.command(action) ? undefined : false
  }
}
