// What the table shows in place of the search: similar items, a ranking by examples, the items of a group; and the
// cards of the groups themselves.

import { h } from '../common/dom.js'
import { bodyOf } from '../common/filters.js'
import { getJSON } from '../common/http.js'
import { t, tn, withCommas } from '../common/language.js'
import { Groups, groupName } from './groups.js'
import { Ranking, pagedListing, rowsOf, similarTo } from './ranking.js'
import { countOf, selectionWords } from './selection.js'
import { withVerdictFirst } from './verdict_first.js'

/**
 * @typedef {Object} RelatedItems
 * @property {import('./results.js').Listing} listing
 * @property {string} words what it is
 * @property {string} name proposed for a list of these items
 * @property {number[]} [items] all of them, where not all rows are loaded
 * @property {HTMLElement[]} [buttons]
 */

export class Related {
  /** @type {RelatedItems | null} what the table shows; null: the search */
  shown = null
  /** @type {Ranking | null} */
  #ranking = null
  #ticket = 0 // of what was asked for last: only that is shown

  /** @param {import('./find.js').FindDesk} desk */
  constructor(desk) {
    this.desk = desk
    this.groups = new Groups({ onOpen: (group) => this.#showGroup(group), onClose: () => this.desk.showSearch() })
  }

  /** All items that are shown in place of the search. */
  get items() {
    return this.shown?.items ?? this.desk.results.ids()
  }

  /** Whether the cards of the groups are shown in place of the table. */
  get hasGroups() {
    return !this.groups.root.hidden
  }

  /** The table shows the search again. */
  leave() {
    this.#ticket++
    this.shown = this.#ranking = null
  }

  /**
   * Load and show rows; if it fails, the table stays as it is. An answer that comes after something else was asked for
   * is dropped.
   * @param {() => Promise<RelatedItems>} load @param {Ranking | null} ranking that is shown
   */
  async #show(load, ranking = null) {
    const { desk } = this
    const ticket = ++this.#ticket
    desk.results.setWaiting(true)
    try {
      const related = await load()
      if (ticket !== this.#ticket) return
      // The selection has become the examples.
      if (ranking && ranking !== this.#ranking) desk.selection.clear()
      else desk.dropSelection(t('The table shows other items now, so nothing is selected any more.'))
      this.shown = related
      this.#ranking = ranking
      await desk.show(related.listing, related)
    } catch (error) {
      if (ticket === this.#ticket) desk.notices.error(error)
    } finally {
      if (ticket === this.#ticket) desk.results.setWaiting(false)
    }
  }

  /** The items of the filter that are most similar to one. @param {number} id @param {'text' | 'spectrum'} by */
  showSimilar(id, by) {
    return this.#show(() => similarTo(id, by, this.desk.filter))
  }

  /** Rank the items of the filter by these examples. @param {number[]} examples */
  showRanking(examples) {
    return this.#rank(new Ranking(examples, this.desk.filter))
  }

  /** @param {Ranking} ranking */
  #rank(ranking) {
    return this.#show(async () => {
      await ranking.load()
      return this.#ranked(ranking)
    }, ranking)
  }

  /** @param {Ranking} ranking @returns {RelatedItems} */
  #ranked(ranking) {
    const again = h('button.primary', { onClick: () => this.#rank(ranking) }, t('Rank again'))
    const name = t('like item {number}', { number: withCommas([...ranking.examples]) })
    return { listing: ranking.listing(), words: ranking.words, name, buttons: [again] }
  }

  /** Mark a row of the ranking as not alike, or not after all. @param {number} id */
  async notLike(id) {
    const ranking = this.#ranking
    if (!ranking) return undefined
    if (!ranking.toggleUnlike(id)) return this.desk.notices.toast(t('One example has to stay.'))
    this.shown = this.#ranked(ranking)
    await this.desk.show(this.shown.listing, { ...this.shown, keep: true })
    return this.desk.results.focus(id)
  }

  selectAlike() {
    const { selection } = this.desk
    selection.clear()
    selection.set(this.#ranking?.alike() ?? [], true)
  }

  /** Load the rows again: their states may have changed; their order stays. */
  async refresh() {
    const { results, notices } = this.desk
    const ticket = this.#ticket
    try {
      const fresh = new Map((await rowsOf(results.rows.map(({ id }) => id))).map((row) => [row.id, row]))
      if (ticket !== this.#ticket) return
      this.#ranking?.update(fresh)
      results.rows = results.rows.map((row) => ({ ...row, ...fresh.get(row.id) }))
      results.draw()
    } catch (error) {
      notices.error(error)
    }
  }

  /** Group the selected items, or those of the search where none is selected. */
  async group() {
    const { desk } = this
    const { selection } = desk
    const some = selection.count > 0
    const all = this.shown ? { items: this.items } : { filter: bodyOf(desk.filter), without: [] }
    const { total } = desk.counted
    const items = some ? selectionWords(selection) : tn('{n} item', '{n} items', total, { n: countOf(desk.counted) })
    this.#ticket++
    desk.showTable(false)
    await this.groups.start(some ? selection.body() : all, items)
  }

  /** @param {ItemGroup} group */
  #showGroup(group) {
    const back = () => {
      this.leave()
      this.desk.showGroups()
      this.groups.focus(group)
    }
    const [number, short] = [group.number, groupName(group)]
    return this.#show(async () => {
      const { items } = await getJSON(withVerdictFirst(`/api/v1/groups/${number}`))
      const words = t('Group {number}: {name}', { number, name: short })
      const buttons = [h('button', { onClick: back }, t('Back to the groups'))]
      return { listing: pagedListing(items), words, name: t('group: {name}', { name: short }), items, buttons }
    })
  }
}
