// What the texts of the item shown say about its tool calls and data. Those of the saved version come with its checks;
// a changed text is compared by the server some time after the change, so that nobody waits for it.

import { postRepeatable } from '../common/http.js'
import { textOf } from '../trace/statements.js'

const AFTER_A_CHANGE = 400 // ms

/** @typedef {{step: string, text: string}} Disagreement  a sentence about the text of a step */

/** Event: "change" after another result is known, or the one before no longer holds. */
export class Statements extends EventTarget {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  /** @type {Promise<void> | null} */
  #running = null
  /** @type {Step[] | null} the steps that the result holds for */
  #compared = null

  /** @param {import('./state.js').ReviewState} state */
  constructor(state) {
    super()
    this.state = state
    /** @type {Record<string, import('../trace/statements.js').SpansOfText>} by step */
    this.spans = {}
    /** @type {Disagreement[]} */
    this.disagreements = []
    state.on('steps', () => this.#later())
    state.on('item', ({ sameItem }) => this.#begin(sameItem))
    // The texts of the version shown were compared.
    state.on('checks', ({ spans, disagreements }) => {
      if (state.item && !state.dirty) this.#known(state.steps, spans, disagreements)
    })
  }

  /** @param {boolean} sameItem whether what is known may still hold */
  #begin(sameItem) {
    if (!sameItem) {
      this.#compared = null
      Object.assign(this, { spans: {}, disagreements: [] })
    }
    clearTimeout(this.#timer)
    if (this.state.dirty) this.#later()
  }

  /** The disagreements of the text as it is now; null where they are not known yet. */
  get known() {
    return this.#compared !== null && this.#compared === this.state.steps ? this.disagreements : null
  }

  /** Compare the present text now; resolves when its result is known or cannot be had. */
  async compareNow() {
    clearTimeout(this.#timer)
    await this.#running
    if (this.known === null) await this.#compare()
  }

  #later() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#compare(), AFTER_A_CHANGE)
  }

  #compare() {
    this.#running ??= this.#request().finally(() => (this.#running = null))
    return this.#running
  }

  async #request() {
    const { item, steps } = this.state
    if (!item || item.hidden || !steps.length) return
    try {
      const { spans, disagreements } = await postRepeatable(`/api/v1/item/${item.id}/statements`, { steps })
      if (!this.state.isShown(item.id)) return
      this.#known(steps, spans, disagreements)
      if (this.state.steps !== steps) this.#later()
    } catch {
      // Deciding does not need it: the server compares again, and refuses what is not confirmed.
    }
  }

  /** @param {Step[]} steps @param {Record<string, Span[]>} spans by step @param {Disagreement[]} disagreements */
  #known(steps, spans, disagreements) {
    this.spans = Object.fromEntries(
      steps.filter(({ id }) => id in spans).map((step) => [step.id, { text: textOf(step), list: spans[step.id] }]),
    )
    this.disagreements = disagreements
    this.#compared = steps
    this.dispatchEvent(new Event('change'))
  }
}
