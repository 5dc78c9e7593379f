// The spectrum in front with one run on it: which sample or vote is shown, the selected step, and the drawing of both.
// It holds this state; the rest of the tab reads it and calls its methods.

import { fill, h } from '../common/dom.js'
import { timeWithSeconds } from '../common/format.js'
import { drawHeader } from '../spectrum/item_header.js'
import { t } from '../common/language.js'
import { Comparison } from '../trace/comparison.js'
import { nearestZoom, windowOf, windowsOf } from '../trace/steps.js'
import { ending, firstSteps, neighbour, notRunYet, sampleLabel, traceName } from './labels.js'
import { RunTabs } from './run_tabs.js'
import { pendingSteps } from './runs.js'
import { LiveSpectrum } from './spectrum.js'
import { LiveTrace, pictureURL } from './trace.js'
import { Vote } from './vote.js'

export class RunView {
  #drawnHeader = ''
  #drawnBeside = ''
  /** @type {{run: Run, sample: number} | null} the second trace */
  #second = null

  /**
   * @param {{tasks: Record<string, TaskText>, options: {task: string}, policy: () => any,
   *   keys: import('../common/keys.js').Keys, notices: import('../common/notices.js').Notices, onShown: () => void,
   *   onRun: () => void, onGuide: () => void, guide: () => HTMLElement, onTrial: (run: Run, sample: number) => void,
   *   onStopTrial: (run: Run, sample: number) => void, resultsOf: (row: BenchRow) => RunSummary[],
   *   findRun: (id: string) => Promise<Run | null>, titleOf: (policy: string) => string,
   *   onShowRun: (id: string) => void, onRemoveRun: (id: string) => void,
   *   onAdd: Parameters<typeof firstSteps>[0]}} options `options`: of the next run; `policy`: that is chosen;
   *   `onShown`: something else is shown; `resultsOf`: the runs on a spectrum, oldest first; `findRun`: null where the
   *   server no longer keeps it; `onShowRun`: another run is to be shown
   */
  constructor(options) {
    this.on = options
    this.options = options.options
    /** @type {Run | null} */
    this.run = null
    /** @type {number | 'vote'} */
    this.sample = 0
    /** @type {Vote | null} */
    this.vote = null
    this.header = h('header.item')
    const picture = () => this.trace.picture()
    this.spectrum = new LiveSpectrum((id) => this.choose(id, { scroll: true }), options.notices, picture, options.guide)
    this.trace = new LiveTrace({
      keys: options.keys,
      onSelect: (id) => this.choose(id),
      onAgain: options.onRun,
      onSample: (sample) => this.showSample(sample),
      onTrial: (sample) => this.run && options.onTrial(this.run, sample),
      onStopTrial: (sample) => this.run && options.onStopTrial(this.run, sample),
    })
    this.comparison = new Comparison({
      pane: this.trace.cards,
      onSelect: (id) => this.choose(id),
      onChoose: (key) => this.compare(key).catch((error) => options.notices.error(error)),
      onClose: () => this.closeComparison(),
      onChange: () => this.#drawBeside(),
    })
    const { keys, tasks, titleOf, onShowRun: onShow, onRemoveRun: onRemove } = options
    const compare = this.comparison.button({
      ...{ label: t('Compare'), title: t('Show another trace of this spectrum next to this one') },
      ...{ key: keys.of('compare'), choices: () => this.#choices() },
    })
    this.tabs = new RunTabs({ keys, tasks, titleOf, compare, onShow, onRemove })
  }

  /** The spectrum in front, with its row of the bench; null where there is none. */
  get current() {
    return this.spectrum.shown
  }

  /** The trace shown; null where there is none, or the vote is shown. */
  get shownTrace() {
    return this.run && this.sample !== 'vote' ? this.run.traces[this.sample] : null
  }

  /** The task of the run shown, or of the next one. */
  get task() {
    return this.run?.task ?? this.options.task
  }

  /** Show a spectrum with a run. @param {import('./spectrum.js').ShownSpectrum} opened @param {Run | null} run */
  open(opened, run) {
    if (opened.row.id !== this.current?.row.id) this.#forgetSecond()
    this.spectrum.show(opened)
    if (run) this.#showRun(run)
    else this.showNoRun()
  }

  /** The bench is empty. */
  showEmpty() {
    this.run = this.vote = null
    this.#forgetSecond()
    this.tabs.draw([], null)
    this.spectrum.hide()
    this.#drawnHeader = ''
    fill(this.header, h('div.who', h('strong.name', t('No spectrum yet'))))
    this.trace.showInstead(firstSteps(this.on.onAdd))
    this.on.onShown()
  }

  /** The spectrum shown has no run yet. */
  showNoRun() {
    this.run = this.vote = null
    this.#forgetSecond()
    this.#showTabs()
    this.#showHeader()
    const { tasks, keys, onRun } = this.on
    this.trace.showInstead(notRunYet({ task: tasks[this.options.task], policy: this.on.policy(), keys, onRun }))
    this.on.onShown()
  }

  /** The options of the next run have changed. */
  async optionsChanged() {
    if (!this.current || this.run) return
    this.showNoRun()
    await this.spectrum.setTask(this.options.task)
  }

  /** Show a run on the spectrum in front: keep its zoom, draw the lines of the run's task. @param {Run} run */
  async showRun(run) {
    const { current } = this
    await this.spectrum.setTask(run.task)
    if (current === this.current) this.#showRun(run)
  }

  #showHeader() {
    if (!this.current) return
    const { row, spectrum } = this.current
    const drafter = this.shownTrace?.drafter ?? { kind: 'none' }
    const title = this.on.tasks[this.task]?.title ?? this.task
    const key = JSON.stringify([row.id, title, drafter.name])
    if (this.#drawnHeader === key) return
    this.#drawnHeader = key
    drawHeader(this.header, {
      item: { row: { ...row, drafter }, task: { title } },
      spectrum,
      onGuide: this.on.onGuide,
      toast: (text) => this.on.notices.toast(text),
    })
  }

  /** Show a run: its vote, if there is one, or else its first trace. @param {Run} run */
  #showRun(run) {
    this.run = run
    this.showSample(run.samples > 1 && run.consensus && !this.#second ? 'vote' : 0)
  }

  /** Show the run in another tab. @param {number} by 1 is the next older one */
  showNextRun(by) {
    const { order } = this.tabs
    const to = neighbour(order, order.indexOf(this.run?.id ?? ''), by)
    if (to && to !== this.run?.id) this.on.onShowRun(to)
  }

  #showTabs() {
    this.tabs.draw(this.current ? this.on.resultsOf(this.current.row) : [], this.run?.id ?? null)
  }

  // ---- two traces

  /** All traces of the spectrum but the one shown. @returns {import('../trace/comparison.js').Choice[]} */
  #choices() {
    const { current, on } = this
    if (!current) return []
    const shown = keyOf(this.run, this.sample)
    const choice = (/** @type {RunSummary} */ result, /** @type {number} */ at) => ({
      key: keyOf({ id: result.run }, at),
      name: traceName(result, on.titleOf(result.policy), at),
      facts: [
        on.tasks[result.task]?.title ?? result.task,
        result.verdicts[at] ? t('answer {answer}', { answer: result.verdicts[at] }) : t('no answer'),
        timeWithSeconds(result.started),
      ],
    })
    return on
      .resultsOf(current.row)
      .reverse()
      .flatMap((result) => result.verdicts.map((_, at) => choice(result, at)))
      .filter(({ key }) => key !== shown)
  }

  /** Show another trace next to the one in front. @param {string} key of its choice */
  async compare(key) {
    const { current } = this
    const [id, sample] = key.split(' ')
    const run = await this.on.findRun(id)
    if (!run || !this.run || current !== this.current) return
    this.#second = { run, sample: Number(sample) }
    if (this.sample === 'vote') this.showSample(key === keyOf(this.run, 0) ? 1 : 0)
    this.comparison.open(this.#compared(run, Number(sample)))
  }

  /** The comparison ends; the trace in front stays. */
  closeComparison() {
    this.#second = null
    this.comparison.close()
  }

  /** The second trace goes where its run was removed, or another spectrum is shown. @param {string} [run] */
  forget(run) {
    if (this.#second?.run.id === run) this.closeComparison()
  }

  #forgetSecond() {
    if (!this.#second) return
    this.#second = null
    this.#drawnBeside = ''
    this.comparison.forget()
    this.trace.showShared({})
  }

  /** @param {Run} run @param {number} sample @returns {import('../trace/comparison.js').ComparedTrace} */
  #compared(run, sample) {
    const trace = run.traces[sample]
    const name = traceName(run, run.policyTitle, sample)
    return {
      key: keyOf(run, sample),
      name,
      title: `${name} · ${sampleLabel(trace)}`,
      steps: trace.steps,
      question: { key: run.task, title: this.on.tasks[run.task]?.title ?? run.task },
      pictureURL: (step) => step.picture && pictureURL(run, step.picture),
      overviewURL: trace.overview && pictureURL(run, trace.overview),
      meta: this.current?.spectrum.meta,
      ending: trace.ended ? ending(trace.ended, trace).text : '',
    }
  }

  /** Draw both traces as they are now, with the windows of both. */
  #drawBeside() {
    const { run, sample } = this
    if (!this.#second || !run || sample === 'vote' || !this.current) {
      this.#drawnBeside = ''
      this.trace.showShared({})
    } else {
      const second = this.#compared(this.#second.run, this.#second.sample)
      const first = this.#compared(run, sample)
      const key = JSON.stringify([first, second])
      if (key === this.#drawnBeside) return
      this.#drawnBeside = key
      this.comparison.replace(second)
      this.trace.showShared(this.comparison.draw(first, this.current.spectrum))
    }
    this.#showWindows()
  }

  /** Show another trace of the run, or its vote. @param {number | 'vote'} sample */
  showSample(sample) {
    const { run } = this
    if (!run || !this.current) return
    // A vote has no steps of its own to compare, and a trace is not compared with itself.
    const second = this.#second && keyOf(this.#second.run, this.#second.sample)
    if (second && (sample === 'vote' || second === keyOf(run, sample))) this.closeComparison()
    this.sample = sample
    this.vote = null
    const { spectrum } = this.current
    if (sample === 'vote') {
      this.vote = new Vote(run, spectrum.redshift, {
        onWindow: (id) => this.choose(id),
        onStep: (of, turn) => this.#showTurn(of, turn),
      })
      this.trace.showVote(run, this.vote.element)
    } else this.trace.show(run, sample, spectrum)
    this.#showTabs()
    if (this.#second) this.#drawBeside()
    this.#showWindows()
    const [first] = this.#windows()
    if (first && run.state !== 'running') this.choose(first.id)
    this.#showHeader()
    this.on.onShown()
  }

  /** Show the step that ends a turn of a sample. @param {number} sample @param {number} turn */
  #showTurn(sample, turn) {
    this.showSample(sample)
    const steps = this.shownTrace?.steps ?? []
    const step = steps.filter(({ kind }) => kind !== 'think')[turn - 1] ?? steps.at(-1)
    if (step) this.choose(step.id, { scroll: true })
  }

  /** Select a step on its card and on the spectrum; null follows the newest step again. @param {string | null} id */
  choose(id, { scroll = false } = {}) {
    if (this.vote) {
      if (!id) return
      this.spectrum.view.select(id, { zoomTo: true })
      this.vote.select(id)
      return
    }
    const second = id && this.comparison.select(id, { scroll })
    if (second) {
      if (windowOf(second)) this.spectrum.view.select(second.id, { zoomTo: true })
      return
    }
    const steps = this.#steps()
    const step = steps.find((candidate) => candidate.id === id)
    if (step && step !== steps.at(-1)) this.trace.stay()
    if (step) this.trace.select(step.id, { scroll })
    const zoom = step && nearestZoom(steps, step.id)
    if (step && zoom) this.spectrum.view.select(zoom.id, { zoomTo: true, chosen: step.id })
    if (id === null) this.#showWindows()
  }

  /** Select the next or previous step, or window of the vote. @param {number} by */
  chooseNext(by) {
    /** @type {{id: string}[]} */
    const steps = this.vote?.windows ?? this.shownTrace?.steps ?? []
    const selected = this.vote ? this.spectrum.view.selected : this.trace.selected
    const at = steps.findIndex((step) => step.id === selected)
    const to = neighbour(steps, at < 0 && by < 0 ? steps.length : at, by)
    if (to) this.choose(to.id, { scroll: true })
  }

  /** Show the next or previous sample. @param {number} by */
  showNextSample(by) {
    const count = this.run?.traces.length ?? 0
    if (count < 2) return
    const at = this.sample === 'vote' ? Math.min(0, -by) : this.sample
    this.showSample(Math.max(0, Math.min(count - 1, at + by)))
  }

  /** The windows of the trace shown, or of all samples of the vote. @returns {StepWindow[]} */
  #windows() {
    return this.vote?.windows ?? this.comparison.withSecond(windowsOf(this.#steps()))
  }

  /** @returns {Step[]} */
  #steps() {
    const { current, shownTrace: trace } = this
    return trace && current ? [...trace.steps, ...pendingSteps(trace, current.spectrum.medium)] : []
  }

  /** Draw what is new in the run shown. */
  draw() {
    this.#showTabs()
    if (!this.run || !this.current) return
    if (this.#second) this.#drawBeside()
    if (this.sample !== 'vote') {
      this.trace.paint()
      this.#showWindows()
      this.#showHeader()
    }
    this.on.onShown()
  }

  /** Draw the windows so far; the newest is selected as long as the trace is followed. */
  #showWindows() {
    const windows = this.#windows()
    const newest = (!this.vote && this.trace.following && windowsOf(this.#steps()).at(-1)?.id) || null
    const changed = this.spectrum.showWindows(windows, newest ?? this.spectrum.view.selected)
    if (changed && newest) this.trace.select(newest, { scroll: false })
  }

  /** A run is over. @param {Run} run */
  finished(run) {
    if (run !== this.run) return
    this.draw()
    if (run.samples > 1 && run.consensus && this.trace.following && !this.#second) this.showSample('vote')
  }
}

/** A trace of a run, as one string. @param {{id: string} | null} run @param {number | 'vote'} sample */
const keyOf = (run, sample) => `${run?.id} ${sample}`
