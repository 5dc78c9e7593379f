// Saved views: filters and lists of items with a name, one's own and those that others share.

import { address } from '../common/address.js'
import { fill, h } from '../common/dom.js'
import { bodyOf, filterOf, noteLists } from '../common/filters.js'
import { number } from '../common/format.js'
import { getJSON, postJSON, remove } from '../common/http.js'
import { t, tn } from '../common/language.js'
import { showError } from '../common/notices.js'
import { openPanel } from '../common/panels.js'
import { countOf } from './selection.js'

const GUIDE = address('/docs/team/finding.md')

/**
 * @typedef {Object} View
 * @property {number} id
 * @property {string} name
 * @property {string} person
 * @property {boolean} shared
 * @property {Record<string, any>} filter
 * @property {number | null} items how many, of a list
 */

/** What to search for to see a view. @param {View} view @returns {import('../common/filters.js').Filter} */
export const searchOf = (view) => (view.items === null ? filterOf(view.filter) : { listed: String(view.id) })

export class Views {
  /**
   * @param {Person} me
   * @param {{onDeleted: (view: View) => void, toast: (text: string) => void}} callbacks
   */
  constructor(me, callbacks) {
    this.me = me
    this.on = callbacks
    /** @type {View[]} */
    this.views = []
    /** @type {number | null} the view that is shown */
    this.current = null
    this.root = h('section.views', { 'aria-label': t('Saved views') })
    this.#draw()
  }

  async load() {
    this.views = await getJSON('/api/v1/views')
    noteLists(this.views)
    this.#draw()
  }

  /** @param {number | null} id */
  setCurrent(id) {
    if (id === this.current) return
    this.current = id
    this.#draw()
  }

  #draw() {
    const own = this.views.filter(({ person }) => person === this.me.initials)
    const others = this.views.filter(({ person }) => person !== this.me.initials)
    fill(
      this.root,
      h('h2', t('Saved views'), h('a', { href: GUIDE, target: '_blank' }, t('Guide'), ' ↗')),
      !this.views.length &&
        h('p.muted', t('None yet. “Save view” keeps a search under a name; “Save as list” keeps selected items.')),
      own.length > 0 && h('ul', ...own.map((view) => this.#entry(view))),
      others.length > 0 && [h('h3', t('Shared by others')), h('ul', ...others.map((view) => this.#entry(view)))],
    )
  }

  /** @param {View} view */
  #entry(view) {
    const own = view.person === this.me.initials
    const about =
      view.items === null
        ? t('a search')
        : tn('a list of {n} item', 'a list of {n} items', view.items, { n: number(view.items) })
    const by = own ? (view.shared ? t('shared') : t('only for me')) : t('by {person}', { person: view.person })
    const current = view.id === this.current
    return h(
      `li${current ? '.current' : ''}`,
      h(
        'a.view',
        { href: `#view=${view.id}`, title: view.name, 'aria-current': current ? 'true' : null },
        h('span.view-name', view.name),
        h('span.muted', `${about} · ${by}`),
      ),
      h(
        'button.view-menu',
        {
          'aria-haspopup': 'dialog',
          'aria-label': t('Change or share the view {name}', { name: view.name }),
          onClick: () => this.#change(view),
        },
        '⋯',
      ),
    )
  }

  /** @param {View} view */
  async #change(view) {
    const own = view.person === this.me.initials
    const link = `${location.origin}${location.pathname}#view=${view.id}`
    const title = own ? t('Change the view') : view.name
    const choice = await openPanel(title, (/** @type {(result?: 'delete') => void} */ close) => {
      const shownLink = h('code', link)
      // Where the browser gives no access to the clipboard (a page without HTTPS), the link is selected.
      const select = () => getSelection()?.selectAllChildren(shownLink)
      const copy = () =>
        navigator.clipboard
          ? navigator.clipboard.writeText(link).then(() => this.on.toast(t('The link is copied.')), select)
          : select()
      const name = h('input', {
        type: 'text',
        value: view.name,
        maxLength: 200,
        required: true,
        'aria-label': t('Name'),
      })
      const shared = h('input', { type: 'checkbox', checked: view.shared })
      const note = h('p.note.look', { hidden: true, role: 'alert' })
      const done = (/** @type {Promise<any>} */ promise) =>
        promise.then(
          () => (close(), this.load()),
          (error) => showError(note, error),
        )
      const save = () => postJSON(`/api/v1/views/${view.id}`, { name: name.value.trim(), shared: shared.checked })
      return h(
        'form.view-form',
        { onSubmit: (/** @type {Event} */ e) => (e.preventDefault(), done(save())) },
        own && [
          h('label.field', t('Name'), name),
          h('label', shared, ` ${t('shared: everybody finds it in their list')}`),
        ],
        h('p.link-line', shownLink, h('button', { onClick: copy }, t('Copy link'))),
        own && h('p.muted', t('The link works for others while the view is shared.')),
        note,
        own &&
          h(
            'footer',
            h('button.danger', { onClick: () => close('delete') }, t('Delete …')),
            h('span.spring'),
            h('button.primary', { type: 'submit' }, t('Save')),
          ),
      )
    })
    if (choice === 'delete') await this.#delete(view)
  }

  /** Ask first: a view that was deleted cannot be brought back. @param {View} view */
  async #delete(view) {
    const { id, name, items, shared } = view
    const lost =
      items === null
        ? t('The search cannot be brought back. The items that it finds stay as they are.')
        : tn(
            'The list cannot be brought back. Its {n} item stays as it is.',
            'The list cannot be brought back. Its {n} items stay as they are.',
            items,
            { n: number(items) },
          )
    const link = shared
      ? t('It disappears from the lists of all people, and its link stops working.')
      : t('Its link stops working.')
    const isDeleted = await openPanel(
      t('Delete the view “{name}”?', { name }),
      (/** @type {(result?: true) => void} */ close) => {
        const note = h('p.note.look', { hidden: true, role: 'alert' })
        const send = () =>
          remove(`/api/v1/views/${id}`).then(
            () => close(true),
            (error) => showError(note, error),
          )
        return h(
          'div',
          h('p', lost),
          h('p', link),
          note,
          h(
            'footer',
            h('button', { onClick: () => close() }, t('Cancel')),
            h('button.danger', { onClick: send }, t('Delete the view')),
          ),
        )
      },
    )
    if (!isDeleted) return
    this.on.onDeleted(view)
    this.on.toast(t('The view “{name}” is deleted.', { name }))
    await this.load()
  }

  /**
   * Ask for a name and save a search, or a selection as a list.
   * @param {{filter?: import('../common/filters.js').Filter, selection?: import('./selection.js').SelectionBody,
   *   counted?: import('./selection.js').Counted, name?: string, about?: string}} what `counted`: of the selection
   * @returns {Promise<View | null>}
   */
  async save({ filter, selection, counted = { total: 0, orMore: false }, name: proposed = '', about = '' }) {
    const title = filter
      ? t('Save this search as a view')
      : tn('Save {n} item as a list', 'Save {n} items as a list', counted.total, { n: countOf(counted) })
    const saved = await openPanel(title, (/** @type {(view?: View) => void} */ close) => {
      const name = h('input', {
        type: 'text',
        value: proposed,
        maxLength: 200,
        required: true,
        'aria-label': t('Name'),
      })
      const shared = h('input', { type: 'checkbox' })
      const note = h('p.note.look', { hidden: true, role: 'alert' })
      const submit = h('button.primary', { type: 'submit' }, t('Save'))
      queueMicrotask(() => {
        name.focus()
        name.select()
      })
      const send = async () => {
        submit.disabled = true
        const what = filter ? { filter: bodyOf(filter) } : { selection }
        try {
          close(await postJSON('/api/v1/views', { name: name.value.trim(), shared: shared.checked, ...what }))
        } catch (error) {
          submit.disabled = false
          showError(note, error)
        }
      }
      return h(
        'form.view-form',
        { onSubmit: (/** @type {Event} */ e) => (e.preventDefault(), send()) },
        h(
          'p.muted',
          about ||
            (filter
              ? t('A search finds what matches at the time when it is opened.')
              : t('A list keeps exactly these items, whatever happens to them later.')),
        ),
        h('label.field', t('Name'), name),
        h('label', shared, ` ${t('shared: everybody finds it in their list')}`),
        note,
        h('footer', submit),
      )
    })
    if (saved) await this.load()
    return saved
  }
}
