// A second trace of a spectrum next to the one in front, to read only: its cards, the windows of both on the
// spectrum, and in what they differ. Review compares items with it, Live compares runs.

import { cap, fill, h } from '../common/dom.js'
import { t } from '../common/language.js'
import { openPicture } from '../common/panels.js'
import { sheetOf } from '../common/popover.js'
import { windowInData } from '../spectrum/frames.js'
import { windowsOf, windowsOfSide } from './steps.js'
import { TraceView } from './view.js'

/** In front of the ids of the second trace, so that both can be on the page. */
const SECOND = 'beside '

/** Two windows are the same if what they share is at least this part of what they cover together. */
const SAME = 0.5

/**
 * One of two traces that are compared.
 * @typedef {Object} ComparedTrace
 * @property {number | string} key of its choice
 * @property {string} name in sentences, e.g. "#45"
 * @property {string} title of its head
 * @property {Step[]} steps
 * @property {{key: string, title: string}} question
 * @property {(step: Step) => string | null} pictureURL
 * @property {string | null} overviewURL
 * @property {any} [meta] of the spectrum
 * @property {string} [href] where it can be opened
 * @property {string} [ending] why it has no answer
 */

/** @typedef {{key: number | string, name: string, facts: string[]}} Choice a trace to choose as the second one */

/**
 * @typedef {Object} BesideOptions
 * @property {HTMLElement} pane of the trace in front
 * @property {(id: string, options?: {scroll?: boolean}) => void} onSelect a step of either trace
 * @property {(key: any) => void} onChoose a trace is to be shown
 * @property {() => void} onClose
 * @property {() => void} onChange the second trace has appeared, or is gone
 */

export class Comparison {
  /** @type {ComparedTrace | null} the second trace */
  shown = null
  /** @type {Step[]} its steps, with ids that the first trace does not have */
  steps = []
  /** @type {HTMLButtonElement | null} */
  #button = null

  /** @param {BesideOptions} options */
  constructor(options) {
    this.on = options
    const head = (/** @type {string} */ side, /** @type {number} */ at) =>
      h(`button.side.so-${side}`, { onClick: () => this.#setFront(at) })
    this.heads = [head('left', 0), head('right', 1)]
    this.heads[0].hidden = true
    this.pane = h('section', { 'aria-label': t('Second trace') })
    this.summary = h('div.differences', { role: 'status' })
    this.itemLink = h('a.open', { title: t('Open this item') }, t('Open'))
    const close = h('button.close', { onClick: options.onClose }, t('Close'))
    const row = h('div.side-row', this.heads[1], this.itemLink, close)
    this.root = h('div.steps.second', { hidden: true }, row, this.summary, this.pane)
    this.trace = new TraceView(this.pane, {
      onSelect: (id) => this.on.onSelect(id, { scroll: false }),
      onPicture: openPicture,
      onShared: (id) => this.on.onSelect(id),
    })
  }

  /** Show a second trace. @param {ComparedTrace} trace */
  open(trace) {
    this.replace(trace)
    this.trace.selected = null
    this.#toggle(true)
    this.on.onChange()
    this.#setFront(0)
  }

  /** Take the second trace as it is now, e.g. while it grows; `draw` shows it. @param {ComparedTrace} trace */
  replace(trace) {
    this.shown = trace
    this.steps = trace.steps.map((step) => ({ ...step, id: SECOND + step.id }))
  }

  close() {
    if (!this.shown) return
    this.forget()
    this.on.onChange()
    this.#button?.focus()
  }

  /** Another spectrum is shown: the second trace goes without a change of the first one. */
  forget() {
    this.shown = null
    this.steps = []
    this.#toggle(false)
  }

  /** @param {boolean} on */
  #toggle(on) {
    this.root.hidden = this.heads[0].hidden = !on
    this.root.closest('.so-desk')?.classList.toggle('with-beside', on)
  }

  /** The trace that a narrow page shows. @param {number} at */
  #setFront(at) {
    this.heads.forEach((head, side) => head.classList.toggle('front', side === at))
    for (const [side, pane] of [this.on.pane, this.pane].entries()) pane.classList.toggle('front', side === at)
  }

  /**
   * Draw the second trace next to the first one, and what they have in common.
   * @param {ComparedTrace} first @param {Spectrum | null} spectrum
   * @returns {Record<string, {id: string, name: string, title: string}>} by step of the first trace: the same window
   *   of the second
   */
  draw(first, spectrum) {
    const { shown } = this
    if (!shown) return {}
    const pairs = spectrum ? sameWindows(windowsOf(first.steps), windowsOf(this.steps), spectrum) : []
    const [left, right] = first.name === shown.name ? ['L', 'R'] : [first.name, shown.name]
    const titles = [t('L · {item}', { item: first.title }), t('R · {item}', { item: shown.title })]
    for (const [at, { title }] of [first, shown].entries())
      Object.assign(this.heads[at], { title, textContent: titles[at] })
    this.itemLink.hidden = !shown.href
    this.itemLink.href = shown.href ?? ''
    fill(this.summary, this.#differences(first, { left, right }, pairs.length))
    const same = (/** @type {StepWindow} */ other, /** @type {string} */ side, /** @type {string} */ trace) => ({
      id: other.id,
      name: `= ${side}${other.number}`,
      title: t('The same window as step {number} of {trace}', { number: other.number, trace }),
    })
    const { selected } = this.trace
    const { meta, overviewURL, pictureURL } = shown
    this.trace.show({
      ...{ steps: this.steps, originals: new Map(), editedBy: {}, marks: {}, editable: false, markable: false },
      ...{ meta, overviewURL, pictureURL },
      hints: Object.fromEntries(this.steps.map((step) => [step.id, []])),
      shared: Object.fromEntries(pairs.map(([a, b]) => [b.id, same(a, 'L', left)])),
    })
    this.trace.selected = selected
    return Object.fromEntries(pairs.map(([a, b]) => [a.id, same(b, 'R', right)]))
  }

  /** @param {ComparedTrace} first @param {{left: string, right: string}} names @param {number} both windows in both */
  #differences(first, { left, right }, both) {
    const other = /** @type {ComparedTrace} */ (this.shown)
    const [here, second] = [first, other].map(({ steps }) => verdictOf(steps))
    const [onlyLeft, onlyRight] = [first, other].map(({ steps }) => windowsOf(steps).length - both)
    const names = { first: left, second: right }
    const answers = { here: here ?? t('nothing'), there: second ?? t('nothing') }
    const anotherQuestion = first.question.key !== other.question.key
    const agree = !anotherQuestion && here === second
    const differ = t('{first} answers {here}, {second} answers {there}.', { ...names, ...answers })
    const windows = { ...names, both, left: onlyLeft, right: onlyRight }
    return [
      anotherQuestion &&
        h('p', t('{second} is about another question: {question}?', { ...names, question: other.question.title })),
      agree ? h('p', t('Both answer {here}.', answers)) : h(`p${anotherQuestion ? '' : '.differ'}`, differ),
      first.ending && h('p.ended', `${left}: ${first.ending}`),
      other.ending && h('p.ended', `${right}: ${other.ending}`),
      h('p.muted', t('Windows: {both} in both, {left} only in {first}, {right} only in {second}.', windows)),
    ]
  }

  /** The windows of the first trace with those of the second. @param {StepWindow[]} windows */
  withSecond(windows) {
    if (!this.shown) return windows
    return [...windowsOfSide(windows, 'left'), ...windowsOfSide(windowsOf(this.steps), 'right')]
  }

  /** Select a step of the second trace; null where the step is not of it. @param {string} id @returns {Step | null} */
  select(id, { scroll = true } = {}) {
    const step = this.steps.find((candidate) => candidate.id === id) ?? null
    if (this.shown) this.#setFront(step ? 1 : 0)
    if (step) this.trace.select(id, { scroll })
    return step
  }

  /**
   * A button with the list of the traces that can be shown as the second one.
   * @param {{label: string, title: string, key?: string, choices: () => Choice[]}} options `key`: drawn on the button
   */
  button({ label, title, key, choices }) {
    const button = (this.#button = h('button.guide.others', { title }, `${label} ▾`, key && [' ', cap(key)]))
    const sheet = sheetOf(button, 'div.others-sheet', title, () => {
      const entries = choices().map((choice) => h('li', this.#choice(choice, sheet)))
      return [h('p', title), h('ul', entries)]
    })
    return h('span.others', button, sheet)
  }

  /** Open the list of traces to choose from. */
  choose() {
    if (!this.#button?.isConnected) return
    this.#button.click()
    this.#button.parentElement?.querySelector('li button')?.focus()
  }

  /** @param {Choice} choice @param {HTMLElement} sheet */
  #choice({ key, name, facts }, sheet) {
    const onClick = () => {
      sheet.hidePopover()
      this.on.onChoose(key)
    }
    const props = { 'aria-pressed': String(this.shown?.key === key), onClick }
    return h('button', props, h('strong', name), ` ${facts.join(' · ')}`)
  }
}

/** @param {Step[]} steps @returns {string | null} */
const verdictOf = (steps) => steps.find((step) => step.kind === 'answer')?.verdict ?? null

/**
 * Pairs of windows of two traces that show the same part of the spectrum, each window in one pair at most.
 * @param {StepWindow[]} first @param {StepWindow[]} second @param {Spectrum} spectrum
 * @returns {[StepWindow, StepWindow][]}
 */
function sameWindows(first, second, spectrum) {
  const partOf = (a, b) => sharedPart(windowInData(a, spectrum), windowInData(b, spectrum))
  const overlaps = first
    .flatMap((a) => second.map((b) => ({ a, b, shared: partOf(a, b) })))
    .filter(({ shared }) => shared >= SAME)
    .sort((pair, other) => other.shared - pair.shared)
  const taken = new Set()
  /** @type {[StepWindow, StepWindow][]} */
  const pairs = []
  for (const { a, b } of overlaps) {
    if (taken.has(a) || taken.has(b)) continue
    taken.add(a).add(b)
    pairs.push([a, b])
  }
  return pairs
}

/** What two ranges share, as a part of what they cover together. @param {number[]} a @param {number[]} b */
function sharedPart([a, b], [c, d]) {
  const shared = Math.min(b, d) - Math.max(a, c)
  const covered = Math.max(b, d) - Math.min(a, c)
  return covered > 0 ? Math.max(0, shared) / covered : Number(a === c)
}
