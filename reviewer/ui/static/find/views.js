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

/** What to search for to see a view. @param {View} view @returns {import('../common/filters.js').Filter} */
export const searchOf = (view) => (view.items === null ? filterOf(view.filter) : { listed: String(view.id) })

export class Views {
  /** @param {import('./find.js').FindDesk} desk */
  constructor(desk) {
    this.desk = desk
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

  #isOwn = (/** @type {View} */ view) => view.person === this.desk.me.initials

  #draw() {
    const none = t('None yet. “Save view” keeps a search under a name; “Save as list” keeps selected items.')
    const [own, others] = [true, false].map((isOwn) =>
      this.views.filter((view) => this.#isOwn(view) === isOwn).map((view) => this.#entry(view)),
    )
    fill(
      this.root,
      h('h2', t('Saved views'), h('a', { href: GUIDE, target: '_blank' }, t('Guide'), ' ↗')),
      !this.views.length && h('p.muted', none),
      own.length > 0 && h('ul', own),
      others.length > 0 && [h('h3', t('Shared by others')), h('ul', others)],
    )
  }

  /** @param {View} view */
  #entry(view) {
    const { id, items, name, person, shared } = view
    const about =
      items === null ? t('a search') : tn('a list of {n} item', 'a list of {n} items', items, { n: number(items) })
    const by = this.#isOwn(view) ? (shared ? t('shared') : t('only for me')) : t('by {person}', { person })
    const current = id === this.current
    const menu = {
      'aria-haspopup': 'dialog',
      'aria-label': t('Change or share the view {name}', { name }),
      onClick: () => this.#change(view),
    }
    return h(
      `li${current ? '.current' : ''}`,
      h(
        'a.view',
        { href: `#view=${id}`, title: name, 'aria-current': current ? 'true' : null },
        h('span.view-name', name),
        h('span.muted', `${about} · ${by}`),
      ),
      h('button.view-menu', menu, '⋯'),
    )
  }

  /** @param {View} view */
  async #change(view) {
    const link = `${location.origin}${location.pathname}#view=${view.id}`
    const shownLink = h('code', link)
    // Where the browser gives no access to the clipboard (a page without HTTPS), the link is selected.
    const select = () => getSelection()?.selectAllChildren(shownLink)
    const toast = () => this.desk.notices.toast(t('The link is copied.'))
    const copy = () => (navigator.clipboard ? navigator.clipboard.writeText(link).then(toast, select) : select())
    const line = h('p.link-line', shownLink, h('button', { onClick: copy }, t('Copy link')))
    if (!this.#isOwn(view)) return void openPanel(view.name, line)
    const title = t('Change the view')
    const choice = await openPanel(title, (/** @type {(result?: 'delete' | 'saved') => void} */ close) => {
      const send = (fields) => postJSON(`/api/v1/views/${view.id}`, fields).then(() => close('saved'))
      const about = [line, h('p.muted', t('The link works for others while the view is shared.'))]
      const erase = [h('button.danger', { onClick: () => close('delete') }, t('Delete …')), h('span.spring')]
      return form(view, send, { after: about, buttons: erase })
    })
    if (choice === 'delete') return this.#delete(view)
    return choice === 'saved' ? this.load() : undefined
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
    const title = t('Delete the view “{name}”?', { name })
    const isDeleted = await openPanel(title, (/** @type {(result?: true) => void} */ close) => {
      const note = h('p.note.look', { hidden: true, role: 'alert' })
      const send = () =>
        remove(`/api/v1/views/${id}`)
          .then(() => close(true))
          .catch((error) => showError(note, error))
      const cancel = h('button', { onClick: () => close() }, t('Cancel'))
      const footer = h('footer', cancel, h('button.danger', { onClick: send }, t('Delete the view')))
      return h('div', h('p', lost), h('p', link), note, footer)
    })
    if (!isDeleted) return
    this.desk.viewDeleted(view)
    await this.load()
  }

  /**
   * Ask for a name and save a search, or a selection as a list.
   * @param {{filter?: import('../common/filters.js').Filter, selection?: import('./selection.js').SelectionBody,
   *   counted?: import('./selection.js').Counted, name?: string, about?: string}} what `counted`: of the selection
   * @returns {Promise<View | null>}
   */
  async save({ filter, selection, counted = { total: 0, orMore: false }, name = '', about = '' }) {
    const [title, words] = filter
      ? [t('Save this search as a view'), t('A search finds what matches at the time when it is opened.')]
      : [
          tn('Save {n} item as a list', 'Save {n} items as a list', counted.total, { n: countOf(counted) }),
          t('A list keeps exactly these items, whatever happens to them later.'),
        ]
    const what = filter ? { filter: bodyOf(filter) } : { selection }
    const saved = await openPanel(title, (/** @type {(view?: View) => void} */ close) => {
      const send = (fields) => postJSON('/api/v1/views', { ...fields, ...what }).then(close)
      const root = form({ name, shared: false }, send, { before: h('p.muted', about || words) })
      queueMicrotask(() => {
        root.elements[0].focus()
        root.elements[0].select()
      })
      return root
    })
    if (saved) await this.load()
    return saved
  }
}

/**
 * The form of a view.
 * @param {{name: string, shared: boolean}} view @param {(fields: {name: string, shared: boolean}) => Promise<any>} send
 * @param {Record<string, import('../common/dom.js').Child>} parts before and after the fields, and further buttons
 */
function form(view, send, { before, after, buttons }) {
  const name = h('input', { type: 'text', value: view.name, maxLength: 200, required: true, 'aria-label': t('Name') })
  const shared = h('input', { type: 'checkbox', checked: view.shared })
  const note = h('p.note.look', { hidden: true, role: 'alert' })
  const submit = h('button.primary', { type: 'submit' }, t('Save'))
  const onSubmit = (event) => {
    event.preventDefault()
    submit.disabled = true
    send({ name: name.value.trim(), shared: shared.checked }).catch((error) => {
      submit.disabled = false
      showError(note, error)
    })
  }
  return /** @type {any} */ (
    h(
      'form.view-form',
      { onSubmit },
      before,
      h('label.field', t('Name'), name),
      h('label', shared, ` ${t('shared: everybody finds it in their list')}`),
      after,
      note,
      h('footer', buttons, submit),
    )
  )
}
