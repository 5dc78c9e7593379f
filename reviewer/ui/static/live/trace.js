// The middle of the Live tab: one trace as it grows, its progress and how it ended. It follows the newest card until
// the person selects an earlier one or scrolls up.

import { address } from '../common/address.js'
import { cap, fill, h, withCommands } from '../common/dom.js'
import { t, tn } from '../common/language.js'
import { openPicture } from '../common/panels.js'
import { pictureAt } from '../trace/steps.js'
import { TraceView } from '../trace/view.js'
import { TONES, duration, ending, outcome, outcomeLabel, sampleLabel, tokens } from './labels.js'
import { pendingSteps } from './runs.js'
import { trialPart, trialURL } from './trial.js'

const NEAR = 40 // px from the end that still count as being there

export class LiveTrace {
  /**
   * @param {{onSelect: (id: string | null) => void, onAgain: () => void,
   *   onSample: (sample: number | 'vote') => void, onTrial: (sample: number) => void,
   *   onStopTrial: (sample: number) => void, keys: import('../common/keys.js').Keys}} callbacks
   */
  constructor(callbacks) {
    this.root = h('div.pane')
    this.on = callbacks
    this.turn = h('span.turn')
    this.spinner = h('span.spinner')
    this.lost = h('span.lost', { role: 'status' })
    this.head = h('div.run-head', { hidden: true }, this.spinner, this.turn, h('span.spring'), this.lost)
    this.chips = h('div.samples', { role: 'tablist', 'aria-label': t('Trace of which sample'), hidden: true })
    this.cards = h('div')
    this.end = h('div.run-end', { role: 'status' })
    this.scroller = h(
      'section.live-trace',
      { 'aria-label': t('Trace'), onScroll: () => this.#scrolled() },
      this.cards,
      this.end,
    )
    this.chip = h('button.follow', { hidden: true, onClick: () => this.follow() }, t('follow ↓'))
    fill(this.root, this.head, this.chips, this.scroller, this.chip)
    this.view = new TraceView(this.cards, { onSelect: callbacks.onSelect, onPicture: openPicture })
    this.following = true
    /** @type {any} the run, sample and trace shown, and what of them is drawn */
    this.shown = null
    this.chipsDrawn = ''
    /** @type {import('../trace/shown.js').TraceState['shared']} */
    this.shared = {}
  }

  /** Show which windows the second trace has too. @param {import('../trace/shown.js').TraceState['shared']} shared */
  showShared(shared) {
    this.shared = shared
    this.view.refresh({ shared })
  }

  /** Show something other than a trace: the first steps, or the vote. @param {...any} content */
  showInstead(...content) {
    this.shown = null
    this.head.hidden = this.chips.hidden = this.chip.hidden = true
    fill(this.cards)
    fill(this.end, content)
    this.scroller.scrollTop = 0
  }

  /** The vote of a run, under the same head and chips as its traces. */
  showVote(run, card) {
    this.showInstead(card)
    this.head.hidden = false
    this.spinner.hidden = true
    const longest = Math.max(...run.traces.map((trace) => trace.ended?.seconds ?? 0))
    this.turn.textContent = `${tn('{n} sample', '{n} samples', run.samples)} · ${duration(longest)}`
    this.#drawBy(run, run.traces[0])
    this.#drawChips(run, 'vote')
  }

  /** Show a sample of a run from its first card; a run in progress is followed. */
  show(run, sample, spectrum, following = run.state === 'running') {
    const trace = run.traces[sample]
    this.shown = { run, sample, trace, spectrum, drawn: 0, end: null }
    this.following = following
    this.view.selected = null
    this.shown.withOverview = trace.overview !== null
    this.view.show({
      ...{ steps: [], originals: new Map(), editedBy: {}, marks: {}, hints: trace.hints, faults: [] },
      ...{ editable: false, markable: false, hidden: false, meta: spectrum.meta },
      overviewURL: trace.overview && pictureURL(run, trace.overview),
      pictureURL: (step) => pictureURL(run, step.picture),
      trial: trace.trial?.result ?? null,
      trialURL: trialURL(run, sample),
      shared: this.shared,
    })
    fill(this.end)
    this.paint()
    if (!this.following) this.scroller.scrollTop = 0
  }

  /** Add what is new. Cards that are complete stay as they are. */
  paint() {
    if (!this.shown) return
    const { run, sample, trace, spectrum } = this.shown
    if (!this.shown.withOverview && trace.overview) {
      // It may be over already: whether it is followed does not change.
      return this.show(run, sample, spectrum, this.following)
    }
    for (; this.shown.drawn < trace.steps.length; this.shown.drawn += 1) this.view.append(trace.steps[this.shown.drawn])
    this.view.grow(pendingSteps(trace, spectrum.medium))
    const tried = trace.trial?.result ?? null
    if (tried !== this.view.state.trial) this.view.refresh({ trial: tried })
    this.head.hidden = false
    this.spinner.hidden = run.state !== 'running' || trace.ended !== null
    this.turn.textContent = this.#progress()
    this.#drawBy(run, trace)
    this.#drawChips(run, sample)
    this.#drawEnd()
    if (this.following) this.#toEnd()
    this.chip.hidden = this.following || run.state !== 'running'
  }

  select(id, options) {
    this.view.select(id, options)
  }

  get selected() {
    return this.view.selected
  }

  /** What the agent saw at the selected step, or last. */
  picture() {
    if (!this.shown) return null
    const { run, trace } = this.shown
    const overview = trace.overview && pictureURL(run, trace.overview)
    return pictureAt(trace.steps, this.selected, (step) => pictureURL(run, step.picture), overview)
  }

  follow() {
    this.following = true
    this.on.onSelect(null)
    this.paint()
  }

  /** Stop following the newest card. */
  stay() {
    this.following = false
    if (this.shown) this.chip.hidden = this.shown.run.state !== 'running'
  }

  #toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight
    this.at = this.scroller.scrollTop
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller
    const upwards = scrollTop < (this.at ?? 0) - 2
    const atEnd = scrollTop + clientHeight > scrollHeight - NEAR
    this.at = scrollTop
    if (upwards && !atEnd) this.stay()
  }

  // ---- progress

  #drawBy(run, trace) {
    this.lost.textContent = run.state === 'running' ? run.lost : ''
    this.turn.title = byLine(trace.drafter, run)
  }

  #progress() {
    const { run, trace } = this.shown
    if (!trace.overview)
      return trace.ended ? t('not started') : run.traces.length > 1 ? t('waiting for its turn') : t('starting …')
    const at = Math.max(1, Math.min(trace.turn, trace.maxTurns))
    const turn = t('turn {turn} of {all}', { turn: at, all: trace.maxTurns })
    if (trace.ended) return trace.ended.seconds >= 0.05 ? `${turn} · ${duration(trace.ended.seconds)}` : turn
    return `${turn} · ${duration(Math.max(0, Date.now() - run.since) / 1000)}`
  }

  /** Update the seconds. */
  tick() {
    if (this.shown && !this.shown.trace.ended) this.turn.textContent = this.#progress()
  }

  #drawChips(run, sample) {
    this.chips.hidden = run.traces.length === 1
    const key = JSON.stringify([run.id, sample, run.traces.map(sampleLabel), run.consensus !== null])
    if (this.chips.hidden || key === this.chipsDrawn) return
    this.chipsDrawn = key
    drawChips(this.chips, run, sample, this.on.onSample)
  }

  // ---- how it ended

  #drawEnd() {
    const { run, sample, trace } = this.shown
    const state = JSON.stringify([trace.ended !== null, run.state, trace.trial])
    if (this.shown.end === state) return
    this.shown.end = state
    const running = run.state === 'running'
    const press = { onClick: () => this.on.onAgain() }
    const again = () => h('div.buttons', h('button', press, t('Again'), ' ', cap(this.on.keys.of('run'))))
    if (!trace.ended) {
      const why = run.lost || t('This run ended before the trace was complete.')
      fill(this.end, !running && h('article.ending.red', h('p', why), again()))
      return
    }
    const { reason, seconds, usage, faults = [] } = trace.ended
    const { tone, text } = ending(trace.ended, trace)
    const verdict = run.traces.length === 1 && !running ? outcome(run) : trace.verdict
    const turns = { turn: trace.turn, all: trace.maxTurns }
    const facts = [
      reason === 'answered' && t('answered in turn {turn} of {all}', turns),
      seconds >= 0.05 && duration(seconds),
      tokens(usage),
    ]
    const noted = h('summary', tn('{n} fault noted', '{n} faults noted', faults.length))
    fill(
      this.end,
      h(
        `article.ending${tone && `.${tone}`}`,
        { 'aria-label': t('How it ended') },
        verdict && h(`strong.outcome.${TONES[verdict] ?? 'grey'}`, outcomeLabel(verdict)),
        verdict === 'ask a person' && reasonList(run.consensus, trace.verdict),
        text && h('p', withCommands(text)),
        h('p.muted', facts.filter(Boolean).join(' · ')),
        faults.length > 0 && h('details.faults', noted, listOf(faults, 'ul')),
        (tone === 'red' || reason === 'stopped') && !running && again(),
      ),
      trialPart(run, trace, { onTrial: () => this.on.onTrial(sample), onStop: () => this.on.onStopTrial(sample) }),
    )
  }
}

/** @param {string[]} texts @param {string} selector */
const listOf = (texts, selector) => h(selector, ...texts.map((text) => h('li', text)))

/** Why a person has to decide, and what the agent answered. */
export const reasonList = (consensus, answered) => [
  answered && h('p', t('The agent answered {answered}. A person should decide, because:', { answered })),
  listOf(consensus.reasons, 'ul.reasons'),
]

/** The choice of the trace shown, e.g. "vote · 1 YES · 2 NO …". */
function drawChips(root, run, chosen, onSample) {
  const tab = (sample) => {
    return { role: 'tab', 'aria-selected': String(chosen === sample), onClick: () => onSample(sample) }
  }
  const chips = run.traces.map((trace, at) => {
    const label = sampleLabel(trace)
    const running = label === '…'
    const title = t('sample {sample}: {state}', { sample: at + 1, state: running ? t('running') : label })
    const selector = `button.sample${TONES[label] ? `.${TONES[label]}` : ''}`
    return h(selector, { ...tab(at), title }, `${at + 1} `, running ? h('span.spinner') : h('span', label))
  })
  fill(root, run.consensus && h('button.sample.all', tab('vote'), t('vote')), chips)
}

export const pictureURL = (run, picture) => address(`/api/v1/live/runs/${run.id}/picture/${picture}`)

function byLine(drafter, run) {
  const settings = Object.entries(drafter?.settings ?? {})
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => `${name}: ${value}`)
  return [drafter?.name ?? run.policyTitle, ...settings].join('\n')
}
