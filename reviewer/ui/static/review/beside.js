// A second trace of the spectrum next to the one in front, to read only: its cards, the windows of both on the
// spectrum, and in what they differ.

import { fill, h } from '../common/dom.js'
import { stateName } from '../common/filters.js'
import { t, tn } from '../common/language.js'
import { openPicture } from '../common/panels.js'
import { sheetOf } from '../common/popover.js'
import { windowInData } from '../spectrum/frames.js'
import { windowsOf, windowsOfSide } from '../trace/steps.js'
import { TraceView } from '../trace/view.js'
import { pictureURL } from './items.js'

/** In front of the ids of the second trace, so that both can be on the page. */
const SECOND = 'beside '

/** Two windows are the same if what they share is at least this part of what they cover together. */
const SAME = 0.5

/**
 * @typedef {Object} BesideOptions
 * @property {HTMLElement} pane of the trace in front
 * @property {(id: string, options?: {scroll?: boolean}) => void} onSelect a step of either trace
 * @property {(id: number) => void} onChoose an item whose trace is to be shown
 * @property {() => void} onClose
 * @property {() => void} onChange the second trace has appeared, or is gone
 */

export class Beside {
  /** @type {LoadedItem | null} the item whose trace is shown */
  shown = null
  /** @type {Step[]} its steps, with their own ids */
  steps = []
  /** @type {HTMLButtonElement | null} */
  #button = null

  /** @param {BesideOptions} options */
  constructor(options) {
    this.on = options
    const head = (/** @type {string} */ side, /** @type {number} */ at) =>
      h(`button.side.so-${side}`, { type: 'button', onClick: () => this.#setFront(at) })
    this.heads = [head('left', 0), head('right', 1)]
    this.heads[0].hidden = true
    this.pane = h('section', { 'aria-label': t('Second trace') })
    this.summary = h('div.differences', { role: 'status' })
    this.itemLink = h('a.open', { title: t('Open this item') }, t('Open'))
    const close = h('button.close', { type: 'button', onClick: () => this.on.onClose() }, t('Close'))
    const row = h('div.side-row', {}, this.heads[1], this.itemLink, close)
    this.root = h('div.left.second', { hidden: true }, row, this.summary, this.pane)
    this.legend = h('p.beside-legend', { hidden: true })
    this.trace = new TraceView(this.pane, {
      onSelect: (id) => this.on.onSelect(id, { scroll: false }),
      onPicture: openPicture,
      onShared: (id) => this.on.onSelect(id),
    })
  }

  /** Show the trace of an item. @param {LoadedItem} loaded */
  open(loaded) {
    this.shown = loaded
    this.steps = loaded.item.trajectory.steps.map((step) => ({ ...step, id: SECOND + step.id }))
    this.trace.selected = null
    this.#toggle(true)
    this.on.onChange()
    this.#setFront(0)
  }

  close() {
    if (!this.shown) return
    this.forget()
    this.on.onChange()
    this.#button?.focus()
  }

  /** Another item is shown: the second trace goes without a change of the first one. */
  forget() {
    this.shown = null
    this.steps = []
    this.#toggle(false)
  }

  /** @param {boolean} on */
  #toggle(on) {
    this.root.hidden = this.heads[0].hidden = this.legend.hidden = !on
    this.root.closest('.so-desk')?.classList.toggle('with-beside', on)
  }

  /** The trace that a narrow page shows. @param {number} at */
  #setFront(at) {
    this.heads.forEach((head, side) => head.classList.toggle('front', side === at))
    for (const [side, pane] of [this.on.pane, this.pane].entries()) pane.classList.toggle('front', side === at)
  }

  /**
   * Draw the second trace next to the first one, and what they have in common.
   * @param {Step[]} first its steps @param {LoadedItem} loaded its item
   * @returns {Record<string, {id: string, name: string, title: string}>} by step of the first trace: the same window
   *   of the second
   */
  draw(first, loaded) {
    const { shown } = this
    if (!shown) return {}
    const { item, spectrum } = shown
    const { trajectory } = item
    const pairs = loaded.spectrum ? sameWindows(windowsOf(first), windowsOf(this.steps), loaded.spectrum) : []
    fill(this.heads[0], t('L · {item}', { item: titleOf(loaded.item) }))
    fill(this.heads[1], t('R · {item}', { item: titleOf(item) }))
    fill(
      this.legend,
      h('span.swatch.so-left'),
      t('L: windows of #{item}', { item: loaded.item.id }),
      h('span.swatch.so-right'),
      t('R: windows of #{item}', { item: item.id }),
    )
    this.itemLink.setAttribute('href', `#item=${item.id}`)
    fill(this.summary, this.#differences(first, loaded.item, pairs.length))
    const same = (/** @type {StepWindow} */ other, /** @type {string} */ side, /** @type {number} */ of) => ({
      id: other.id,
      name: `= ${side}${other.number}`,
      title: t('The same window as step {number} of #{item}', { number: other.number, item: of }),
    })
    const { selected } = this.trace
    this.trace.show({
      steps: this.steps,
      originals: new Map(),
      editedBy: {},
      marks: {},
      hints: Object.fromEntries(this.steps.map((step) => [step.id, []])),
      pictureURL: (step) => pictureURL(trajectory, step.picture, step.arguments),
      overviewURL: pictureURL(trajectory, trajectory.overview, {}),
      shared: Object.fromEntries(pairs.map(([a, b]) => [b.id, same(a, 'L', loaded.item.id)])),
      editable: false,
      markable: false,
      meta: spectrum?.meta,
    })
    this.trace.selected = selected
    return Object.fromEntries(pairs.map(([a, b]) => [a.id, same(b, 'R', item.id)]))
  }

  /** @param {Step[]} first @param {Item} item of the first trace @param {number} both number of windows in both */
  #differences(first, item, both) {
    const other = /** @type {LoadedItem} */ (this.shown).item
    const [here, there] = [first, this.steps].map(answerOf)
    const [left, right] = [first, this.steps].map((steps) => windowsOf(steps).length - both)
    const numbers = { first: item.id, second: other.id, here, there }
    const anotherQuestion = item.task.key !== other.task.key
    const agree = !anotherQuestion && here === there
    return [
      anotherQuestion &&
        h('p', {}, t('#{second} is about another question: {question}?', { ...numbers, question: other.task.title })),
      agree
        ? h('p', {}, t('Both answer {here}.', numbers))
        : h(
            `p${anotherQuestion ? '' : '.differ'}`,
            {},
            t('#{first} answers {here}, #{second} answers {there}.', numbers),
          ),
      h(
        'p.muted',
        {},
        t('Windows: {both} in both, {left} only in #{first}, {right} only in #{second}.', {
          ...numbers,
          both,
          left,
          right,
        }),
      ),
    ]
  }

  /** The windows of the first trace with those of the second. @param {StepWindow[]} windows */
  withSecond(windows) {
    if (!this.shown) return windows
    return [...windowsOfSide(windows, 'left'), ...windowsOfSide(windowsOf(this.steps), 'right')]
  }

  /** Select a step of the second trace; null where the step is not of it. @param {string} id @returns {Step | null} */
  select(id, { scroll = true } = {}) {
    const step = this.steps.find((one) => one.id === id) ?? null
    if (this.shown) this.#setFront(step ? 1 : 0)
    if (step) this.trace.select(id, { scroll })
    return step
  }

  /**
   * The button of the header with the list of other traces; null where there are none.
   * @param {import('./state.js').Current} current
   */
  button({ others }) {
    if (!others.length) return null
    const label = tn('{n} other trace', '{n} other traces', others.length)
    const title = tn('{n} other trace of this spectrum', '{n} other traces of this spectrum', others.length)
    const button = (this.#button = h('button.guide.others', { type: 'button', title }, `${label} ▾`))
    const sheet = sheetOf(button, 'div.others-sheet', title, () => [
      h('p', {}, title),
      h(
        'ul',
        {},
        others.map((other) => h('li', {}, this.#choice(other, sheet))),
      ),
    ])
    return h('span.others', {}, button, sheet)
  }

  /** @param {OtherTrace} other @param {HTMLElement} sheet */
  #choice({ id, drafter, task, state, version, answer }, sheet) {
    const choose = () => {
      sheet.hidePopover()
      this.on.onChoose(id)
    }
    const facts = [
      drafter.name,
      task.title,
      stateName(state),
      t('version {version}', { version }),
      answer ? t('answer {answer}', { answer }) : t('no answer'),
    ]
    return h(
      'button',
      { type: 'button', 'aria-pressed': String(this.shown?.item.id === id), onClick: choose },
      h('strong', {}, `#${id}`),
      ` ${facts.join(' · ')}`,
    )
  }
}

/** @param {Item} item */
const titleOf = ({ id, row, version }) =>
  version.number > 1 ? `#${id} · ${row.drafter.name} · v${version.number}` : `#${id} · ${row.drafter.name}`

/** @param {Step[]} steps */
const answerOf = (steps) => steps.find((step) => step.kind === 'answer')?.verdict ?? t('nothing')

/**
 * Pairs of windows of two traces that show the same part of the spectrum, each window in one pair at most.
 * @param {StepWindow[]} first @param {StepWindow[]} second @param {Spectrum} spectrum
 * @returns {[StepWindow, StepWindow][]}
 */
export function sameWindows(first, second, spectrum) {
  const found = first
    .flatMap((a) =>
      second.map((b) => ({ a, b, shared: sharedPart(windowInData(a, spectrum), windowInData(b, spectrum)) })),
    )
    .filter(({ shared }) => shared >= SAME)
    .sort((one, other) => other.shared - one.shared)
  const taken = new Set()
  /** @type {[StepWindow, StepWindow][]} */
  const pairs = []
  for (const { a, b } of found) {
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
