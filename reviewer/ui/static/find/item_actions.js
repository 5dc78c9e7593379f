// What is done with the selected or found items: actions on many at once, views and lists, Review and blind sessions.

import { newKey, postRepeatable } from '../common/http.js'
import { number } from '../common/format.js'
import { pause } from '../common/idle.js'
import { t, tn } from '../common/language.js'
import { openReview } from '../common/links.js'
import { openTab } from '../common/tabs.js'
import { openBulk } from './bulk.js'
import { doneWords, openPast } from './past_actions.js'
import { MOST_EXAMPLES } from './ranking.js'
import { searchOf } from './views.js'

export class ItemActions {
  /** @type {number | null} the last action of this page on many items */
  #last = null

  /** @param {import('./find.js').FindDesk} desk */
  constructor(desk) {
    this.desk = desk
  }

  /** The buttons of the selection, for those who may. @returns {import('./selection.js').Action[]} */
  actions() {
    const { me, related, selection } = this.desk
    const [solo, coordinates] = [me.rules.solo, me.roles.includes('coordinator')]
    const changes = solo || coordinates
    const decides = changes || me.roles.includes('reviewer') || me.roles.includes('auditor')
    /** @param {() => Promise<any>} act */
    const action = (name, label, title, act = () => this.#bulk(name)) => ({ name, label, title, act })
    const rank = () => related.showRanking(selection.items)
    const ranks = t('rank all items by their likeness to 1 to {n} selected ones', { n: MOST_EXAMPLES })
    const list = () => this.#saveSelection()
    const blind = () => this.#blindSession()
    const all = [
      decides && action('reject', t('Reject …'), t('reject the selected items with one reason')),
      changes && action('assign', t('Assign …'), t('who shall work on them')),
      changes && action('unassign', t('Unassign …'), t('these people need not work on them any more')),
      changes && action('batch', t('Set batch …'), t('put them into a batch')),
      coordinates && action('blind', t('Blind session …'), t('have people score them in a blind session'), blind),
      action('list', t('Save as list …'), t('keep exactly these items under a name'), list),
      { ...action('more-like', t('More like these'), ranks, rank), most: MOST_EXAMPLES },
    ]
    const offered = all.filter((entry) => entry !== false)
    return offered.map((entry) => ({ ...entry, act: () => this.#reported(entry.act()) }))
  }

  /** @param {import('./bulk_forms.js').BulkKind} kind */
  async #bulk(kind) {
    const { desk } = this
    const { me, selection, form } = desk
    // The people may not be here yet just after the tab was opened.
    if (['assign', 'unassign'].includes(kind) && !form.facets.names) await form.load(desk.filter)
    const { assigned: people = [], names = {}, batch: batches = [] } = form.facets
    const done = await openBulk(kind, me, selection, { people, names, batches })
    if (!done) return
    this.#last = done.id
    selection.clear()
    await desk.refresh()
    desk.notices.show(doneWords(kind, done.items), {
      label: t('Undo'),
      onClick: () => this.#reported(this.#undo(done.id)),
      until: 'select',
      tone: 'done',
    })
  }

  /** Undo the last action of this page. */
  undoLast() {
    if (this.#last) this.#reported(this.#undo(this.#last))
    else this.desk.notices.toast(t('This page has nothing to undo. See “Past actions”.'))
  }

  /** @param {number} id */
  async #undo(id) {
    const { desk } = this
    const last = this.#last
    if (last === id) this.#last = null // a second press of the key undoes nothing else
    let undone
    try {
      undone = await postRepeatable(`/api/v1/bulk/${id}/undo`, { key: newKey() })
    } catch (error) {
      this.#last ??= last
      throw error
    }
    await desk.refresh()
    desk.notices.clear()
    const n = number(undone.items)
    desk.notices.toast(
      tn('Undone: {n} item is as it was before.', 'Undone: {n} items are as they were before.', undone.items, { n }),
    )
  }

  openPast() {
    this.#reported(openPast(this.desk.me, (id) => this.#undo(id)))
  }

  /** Save the search as a view; what is not the search, as a list. */
  saveView() {
    this.#reported(this.desk.related.shown ? this.#saveFound() : this.#saveSearch())
  }

  async #saveSearch() {
    const { views, filter, notices } = this.desk
    const view = await views.save({ filter })
    if (!view) return
    views.setCurrent(view.id)
    notices.toast(t('Saved. It is in the list of views.'))
  }

  /** Save what the table shows as a list. @param {string} [about] */
  #saveFound(about) {
    const { items } = this.desk.related
    return this.#saveList(about, { items }, { total: items.length, orMore: false })
  }

  /** Save the selection as a list. @param {string} [about] what it is for */
  #saveSelection(about) {
    const { selection } = this.desk
    return this.#saveList(about, selection.body(), { total: selection.count, orMore: selection.orMore })
  }

  /**
   * @param {string | undefined} about @param {import('./selection.js').SelectionBody} selection
   * @param {import('./selection.js').Counted} counted
   */
  async #saveList(about, selection, counted) {
    const { views, related, notices } = this.desk
    const view = await views.save({ selection, counted, name: related.shown?.name, about })
    if (view) notices.toast(t('Saved. It is in the list of views.'))
    return view
  }

  /** Open Review with the same search; what is not the search is saved as a list first. */
  reviewThese() {
    this.#reported(this.#reviewThese())
  }

  async #reviewThese() {
    let { filter } = this.desk
    if (this.desk.related.shown) {
      const view = await this.#saveFound(t('Review goes through a list of items. Give it a name.'))
      if (!view) return
      filter = searchOf(view)
    }
    openReview()
    await window.specO3.review.showFilter(filter)
  }

  async #blindSession() {
    const view = await this.#saveSelection(
      t('A blind session is made of a list of items. Give it a name, then say in the Blind tab who scores.'),
    )
    if (!view) return
    openTab('blind')
    // The tab is built when it is opened for the first time.
    for (let tries = 0; !window.specO3.blind && tries < 200; tries += 1) await pause(50)
    if (!window.specO3.blind) throw new Error(t('The tab failed to load. Reload the page.'))
    await window.specO3.blind.newSession(view.id)
  }

  /** @param {Promise<any>} done */
  #reported(done) {
    this.desk.reported(done)
  }
}
