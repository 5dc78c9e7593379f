// What the address names beside an item: an earlier version, a step, a range, and a second trace next to the first.

import { sentences, t } from '../common/language.js'
import { linkTo, setAddress } from '../common/links.js'
import { comparedItem } from './items.js'

export class Linked {
  #comparisonTicket = 0 // of the second trace chosen last

  /**
   * @param {{state: import('./state.js').ReviewState, items: import('./items.js').Items,
   *   view: import('./item_view.js').ItemView, notices: import('../common/notices.js').Notices}} parts
   */
  constructor({ state, items, view, notices }) {
    this.state = state
    this.items = items
    this.view = view
    this.notices = notices
  }

  /**
   * Show what a link names of the item shown.
   * @param {import('../common/links.js').ItemLink} link @param {Item} item @param {() => boolean} isWanted
   */
  async follow(link, item, isWanted) {
    /** @type {string[]} */
    const ignored = []
    const reading = await this.versionOf(item, link.version, ignored)
    if (!isWanted()) return
    if (!link.beside) this.view.comparison.close()
    this.read(reading)
    await this.show(link, ignored, isWanted)
  }

  /** Show an earlier version; null: the current one. @param {Reading | null} reading */
  read(reading) {
    if (reading?.number !== this.state.reading?.number) this.state.read(reading)
    this.setAddress()
  }

  /**
   * Show another trace of the spectrum next to the one in front.
   * @param {number} id @param {() => boolean} [isWanted] whether the person still waits for it
   * @returns {Promise<string>} why it cannot be shown; "": it is
   */
  async openComparison(id, isWanted = () => true) {
    const { current, item } = this.state
    if (!item) return ''
    if (item.hidden) return t('A second trace is shown once you have given your own verdict.')
    const ticket = ++this.#comparisonTicket
    try {
      if (!current?.others.some((other) => other.id === id))
        return t('Item {other} is no trace of this spectrum that you may see, so it is not shown next to it.', {
          other: id,
        })
      const loaded = await this.items.load(id)
      if (ticket !== this.#comparisonTicket) return ''
      if (isWanted() && this.state.isShown(item.id) && !loaded.item.hidden)
        this.view.comparison.open(comparedItem(loaded))
      this.setAddress()
      return ''
    } catch (error) {
      return /** @type {Error} */ (error).message
    }
  }

  closeComparison() {
    this.view.comparison.close()
    this.setAddress()
  }

  /** Item, version and second trace that are in front. @param {Item} item */
  #inFront({ id }) {
    const beside = /** @type {number | undefined} */ (this.view.comparison.shown?.key) ?? null
    return { item: id, version: this.state.reading?.number ?? null, beside }
  }

  /** The link to what is in front, from "#" on. */
  link() {
    const { item } = this.state
    return item ? linkTo({ ...this.#inFront(item), step: this.view.selected, range: this.view.chosenRange() }) : ''
  }

  /** The address names what stays in front while the person works. */
  setAddress({ byAddress = false } = {}) {
    const { item } = this.state
    if (item) setAddress(linkTo(this.#inFront(item)), { byAddress })
  }

  /**
   * The version that a link names; null for the current one, and where it cannot be shown.
   * @param {Item} item @param {number | null} number @param {string[]} ignored gets the reason
   * @returns {Promise<Reading | null>}
   */
  async versionOf(item, number, ignored) {
    if (number === null || number === item.version.number) return null
    try {
      return await this.items.version(item.id, number)
    } catch (error) {
      ignored.push(/** @type {Error} */ (error).message)
      return null
    }
  }

  /**
   * Show second trace, step and range of a link; what cannot be shown is named in a notice.
   * @param {import('../common/links.js').ItemLink | null} link @param {string[]} ignored gets the reasons
   * @param {() => boolean} isWanted
   */
  async show(link, ignored, isWanted) {
    if (!link) return
    const parts = link.ignored.join(', ').slice(0, 80)
    if (parts) ignored.push(t('A part of the link cannot be read and was ignored: {parts}.', { parts }))
    if (link.beside) ignored.push(await this.openComparison(link.beside, isWanted))
    if (!isWanted()) return
    if (link.step && !this.view.steps.some((step) => step.id === link.step))
      ignored.push(t('This version has no step {step}, which the link names.', { step: link.step }))
    else if (link.step) this.view.select(link.step)
    if (link.range) ignored.push(this.view.showRange(link.range))
    const message = sentences(...ignored)
    if (message) this.notices.show(message)
  }
}
