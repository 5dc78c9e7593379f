// Editing the steps of the item shown: text, windows, order. The server's tool draws every new window.

import { t } from '../common/language.js'
import { postJSON } from '../common/http.js'
import { rewritten, spansOf, textOf, textsAround } from '../trace/statements.js'
import { insertAfter, isMeasurement, moveStep, newStepId, removeStep, replaceStep } from '../trace/steps.js'

/** Windows are rounded to 0.1 Å: finer than any pixel here, and readable. @param {number} x */
const round = (x) => Math.round(x * 10) / 10

/** Keep a promise among others until it ends. @param {Set<Promise<void>>} all @param {Promise<void>} promise */
function noted(all, promise) {
  const running = promise.finally(() => all.delete(running))
  all.add(running)
  return running
}

const WIDEST_NEW_WINDOW = 400 // Å

/**
 * The window of a new zoom, in the tool's frame: what is visible, or its middle 200 Å where more is visible.
 * @param {number[]} visible @param {number} stretch
 */
function newWindow([lo, hi], stretch) {
  const middle = (lo + hi) / 2
  const [from, to] = hi - lo <= WIDEST_NEW_WINDOW ? [lo, hi] : [middle - 100, middle + 100]
  return [round(from / stretch), round(to / stretch)]
}

/** Hints depend on spectrum and arguments, whichever step has them. */
const hintKey = (/** @type {number} */ item, /** @type {Step} */ step) => `${item} ${JSON.stringify(step.arguments)}`

export class Editing {
  /** @type {Map<string, Record<string, any>>} arguments of the last tool call without an answer, by item and step */
  #calls = new Map()
  /** @type {Set<Promise<void>>} */
  #running = new Set()
  /** @type {Set<Promise<void>>} updates of the numbers in texts */
  #updates = new Set()
  /** @type {Map<string, Hint[] | undefined>} by `hintKey`; undefined while they are being measured */
  #hints = new Map()

  /**
   * @param {{state: import('./state.js').ReviewState, view: import('./item_view.js').ItemView,
   *   statements: import('./statements.js').Statements, notices: import('../common/notices.js').Notices}} parts
   */
  constructor({ state, view, statements, notices }) {
    this.state = state
    this.statements = statements
    this.view = view
    this.notices = notices
    state.on('steps', ({ inCard }) => {
      notices.happened('edit')
      if (!inCard) this.#showHints()
    })
    state.on('checks', ({ hints }) => this.#setHints(hints))
  }

  /** Take over what was typed in the card of a step. @param {string} id @param {Partial<Step>} change */
  setStep(id, change) {
    this.state.changeSteps(replaceStep(this.state.steps, id, change), { field: id })
  }

  /** @param {string} id @param {number} by */
  move(id, by) {
    if (this.state.editable) this.state.changeSteps(moveStep(this.state.steps, id, by))
  }

  /** @param {string} id */
  remove(id) {
    if (this.state.editable) this.state.changeSteps(removeStep(this.state.steps, id))
  }

  /**
   * Write the windows and numbers in the texts of a step as the tool calls and the data are now; of a zoom in the
   * thoughts around it.
   * @param {string} id
   */
  updateNumbers(id) {
    return noted(this.#updates, this.#updateNumbers(id))
  }

  /** @param {string} id */
  async #updateNumbers(id) {
    const { state, statements } = this
    const { item } = state
    if (!state.editable || !item) return
    await this.settled()
    await statements.compareNow()
    if (!state.isShown(item.id)) return
    let { steps } = state
    for (const step of textsAround(steps, id)) {
      const text = rewritten(textOf(step), spansOf(statements.spans, step))
      const change = step.kind === 'answer' ? { explanation: text } : { text }
      if (text !== textOf(step)) steps = replaceStep(steps, step.id, change)
    }
    if (steps === state.steps) this.notices.toast(t('The windows and numbers in these texts need no update.'))
    else state.changeSteps(steps)
  }

  /** Take over the server's hints on the version shown. @param {Record<string, Hint[]>} hints by step */
  #setHints(hints) {
    const { item } = this.state
    if (!item) return
    for (const step of item.trajectory.steps) {
      if (step.kind === 'zoom') this.#hints.set(hintKey(item.id, step), hints[step.id] ?? [])
    }
    this.#showHints()
  }

  /** Show with each zoom what was measured in its present window; measure what is not known, e.g. after an undo. */
  #showHints() {
    const { current } = this.state
    if (!current?.spectrum) return
    const { item } = current
    const saved = new Map(item.trajectory.steps.map((step) => [step.id, hintKey(item.id, step)]))
    const zooms = this.state.steps.filter((step) => step.kind === 'zoom')
    current.hints = Object.fromEntries(zooms.map((step) => [step.id, this.#hints.get(hintKey(item.id, step))]))
    this.view.refresh({ hints: current.hints })
    for (const step of zooms) {
      const key = hintKey(item.id, step)
      if (!this.#hints.has(key) && saved.get(step.id) !== key && step.picture && !isMeasurement(step))
        this.#measure(item.id, step, key)
    }
  }

  /** @param {number} item @param {Step} step @param {string} key */
  async #measure(item, step, key) {
    this.#hints.set(key, undefined)
    try {
      this.#hints.set(key, (await postJSON('/api/v1/zoom', { item, arguments: step.arguments })).hints)
      if (this.state.isShown(item)) this.#showHints()
    } catch (error) {
      this.#hints.delete(key)
      this.notices.error(error)
    }
  }

  /** Resolves when the tool has drawn every requested window: nothing may be saved or submitted before. */
  async settled() {
    while (this.#running.size) await Promise.all(this.#running)
  }

  /** Resolves when every change that was requested is made: windows are drawn, numbers in texts are updated. */
  async changesMade() {
    await this.settled()
    while (this.#updates.size) await Promise.all(this.#updates)
  }

  /**
   * Have the tool draw a step's new window.
   * @param {string} id @param {number} lo @param {number} hi
   * @param {string | null} [visit] windows typed in one visit of the card's fields are undone together
   */
  setWindow(id, lo, hi, visit = null) {
    return noted(this.#running, this.#callTool(id, { wavelength_range: [round(lo), round(hi)] }, visit))
  }

  /** @param {string} id @param {string} label */
  setLabel(id, label) {
    return noted(this.#running, this.#callTool(id, { label }, null))
  }

  /**
   * Call the tool with changed arguments of a step.
   * @param {string} id @param {Record<string, any>} change @param {string | null} group of changes undone together
   */
  async #callTool(id, change, group) {
    const { state, view } = this
    const { item } = state
    if (!item) return
    const call = `${item.id} ${id}`
    // A call replaces the one before it, so it needs the changes of both.
    const args = { ...(this.#calls.get(call) ?? state.step(id)?.arguments), ...change }
    if (!args.label) delete args.label
    if (!args.wavelength_range) return
    this.#calls.set(call, args)
    try {
      const answer = postJSON('/api/v1/zoom', { item: item.id, arguments: args })
      view.prepare(replaceStep(state.steps, id, { arguments: args }))
      const { step, hints, png } = await answer
      if (!state.isShown(item.id) || this.#calls.get(call) !== args) return
      if (png) state.keepPicture(step.picture, png)
      if (!step.ok) this.notices.toast(step.observation)
      this.#hints.set(hintKey(item.id, step), hints)
      state.changeSteps(replaceStep(state.steps, id, step), { group })
    } catch (error) {
      this.notices.error(error)
      view.resetSteps()
    } finally {
      if (this.#calls.get(call) === args) this.#calls.delete(call)
    }
  }

  /**
   * An edge of the selected window is dragged on the spectrum.
   * @param {number} lo @param {number} hi @param {boolean} final
   */
  dragWindow(lo, hi, final) {
    const step = this.state.step(this.view.selected)
    if (!step || step.kind !== 'zoom' || isMeasurement(step) || !this.state.editable) return
    if (final) this.setWindow(step.id, lo, hi)
    else this.view.trace.previewWindow(step.id, round(lo), round(hi))
  }

  /** @param {string | null} after @param {'zoom' | 'think'} kind */
  async add(after, kind) {
    const { state, view } = this
    const { current } = state
    if (!current || !state.editable) return
    const { item, spectrum } = current
    const { originals, trajectory } = item
    const taken = originals.map((step) => step.id)
    const id = newStepId(state.steps, taken)
    if (kind === 'think') {
      state.changeSteps(insertAfter(state.steps, after, { id, kind, text: '' }))
      view.select(id)
      view.trace.edit(id)
      return
    }
    if (!spectrum) return this.notices.toast(t('This item has no spectrum here, so no window can be drawn.'))
    const { medium, redshift } = trajectory
    const z = spectrum.frame === 'observed' && redshift ? redshift : 0
    const [lo, hi] = newWindow(view.spectrum.visibleRange(), 1 + z)
    const frame = z ? 'rest' : spectrum.frame
    const drawn = { frame, z, medium, observation: '', ok: true, picture: null }
    const step = { id, kind, arguments: { wavelength_range: [lo, hi] }, ...drawn }
    state.changeSteps(insertAfter(state.steps, after, step))
    view.select(id)
    await this.setWindow(id, lo, hi)
  }
}
