// The order by value of information: the item that the server has chosen to come next, and the items opened so far.

import { t } from '../common/language.js'
import { newKey, postRepeatable } from '../common/http.js'

const CHOICE_LASTS = 10 * 60_000 // ms until it is made again: others may have decided the item meanwhile

/** What the order means, for the tooltip of its chip. */
const MEANING = t(
  'The server chooses the item whose label is worth most for a certificate of the whole list. ' +
    'A share of the items (20 % unless your coordinator sets another) is chosen at random, and ' +
    'the probability of every choice is recorded, so rates and error bounds stay valid. Items ' +
    'without P(YES) are not in this order.',
)

/**
 * @typedef {{id: number | null, arm: 'random' | 'value' | null, probability: number | null}} Chosen  no `id`: no item
 *   with P(YES) waits; no `arm`: not shown, because the answer of the item is hidden
 */

export class ValueOrder {
  /** @type {{query: string, at: number, chosen: Promise<Chosen>} | null} the item that comes next */
  #next = null
  /** @type {Chosen | null} how the item shown was chosen */
  #shown = null
  /** @type {number[]} the items opened since the page was loaded */
  #opened = []

  /** @type {string | null} the filter for which the person knows that nothing can be chosen */
  #nothing = null

  /**
   * @param {{state: import('./state.js').ReviewState, queue: import('./queue.js').Queue,
   *   notices: import('../common/notices.js').Notices}} options
   */
  constructor({ state, queue, notices }) {
    this.state = state
    this.queue = queue
    this.notices = notices
    queue.hint = MEANING
  }

  get on() {
    return this.state.filter.order === 'value'
  }

  /** An item is shown; the choice that it came from is used up. @param {number} id */
  async opened(id) {
    if (this.#opened.at(-1) !== id) this.#opened.push(id)
    if (!this.on) return
    const chosen = await this.#next?.chosen.catch(() => null)
    if (chosen?.id === id) [this.#next, this.#shown] = [null, chosen]
    else if (this.#shown?.id !== id) this.#shown = null
    this.queue.setHint(sentence(this.#shown))
  }

  /** The person goes back to the item opened before: the one shown is no longer in the history. @param {number} id */
  goBack(id) {
    if (this.#opened.at(-2) === id) this.#opened.pop()
  }

  /** The item after the one shown, chosen once. @param {number | null} shown @returns {Promise<Chosen>} */
  async next(shown) {
    const { query } = this.state
    const now = Date.now()
    const known = this.#next
    if (known && known.query === query && now - known.at < CHOICE_LASTS) {
      const chosen = await known.chosen
      if (chosen.id !== null && chosen.id !== shown) return chosen
    }
    const chosen = postRepeatable(`/api/v1/next?${query}`, { key: newKey(), shown })
    const list = { query, at: now, chosen }
    this.#next = list
    chosen.catch(() => {
      if (this.#next === list) this.#next = null
    })
    return chosen
  }

  /**
   * The neighbours of an item: the chosen one, and the one opened before. Where none can be chosen, those by number.
   * @param {number} id @param {Promise<Place>} byNumber
   * @returns {Promise<Place>}
   */
  async place(id, byNumber) {
    const [{ id: next }, place] = await Promise.all([this.next(id), byNumber])
    const { query } = this.state
    if (next === null && this.#nothing !== query)
      this.notices.toast(t('No item here can be chosen by value of information; the next ones come by number.'))
    this.#nothing = next === null ? query : null
    const before = this.#opened.at(-2)
    return { ...place, next: next === null ? place.next : [next], back: before ? [before] : place.back }
  }
}

/** @param {Chosen | null} shown */
function sentence(shown) {
  if (!shown?.probability) return MEANING
  const how = shown.arm === 'random' ? t('at random') : t('by its value')
  const values = { MEANING, how, toPrecision: shown.probability.toPrecision(2) }
  return t('{MEANING} This item was chosen {how}; its probability was {toPrecision}.', values)
}
