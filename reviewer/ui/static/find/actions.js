// What each action of the keymap does.

import { h } from '../common/dom.js'
import { isTyping } from '../common/keys.js'
import { t } from '../common/language.js'
import { openPanel } from '../common/panels.js'
import { toggleTheme } from '../common/theme.js'
import { MOST_EXAMPLES } from './ranking.js'
import { syntaxElements } from './search.js'

/**
 * The handler of all actions.
 * @param {import('./find.js').FindDesk} desk
 * @returns {(action: string) => boolean | void} false leaves the key to the browser
 */
export function findActions(desk) {
  /** @param {(id: number) => void} act */
  const onRow = (act) => () => {
    const row = desk.results.activeRow()
    if (row) act(row.id)
    else desk.notices.toast(t('Choose a row first: ↓ goes to the first one.'))
  }

  const up = () => {
    const { results, search } = desk
    const row = results.activeRow()
    if (row && row === results.rows[0]) search.focus()
    else results.move(-1)
  }

  const moreLike = () => {
    const { items, count } = desk.selection
    if (items.length && count <= MOST_EXAMPLES) desk.related.showRanking(items)
    else desk.notices.toast(t('Select 1 to {n} items that are alike.', { n: MOST_EXAMPLES }))
  }

  /** Leave a field; then go back to the search. */
  const escape = () => {
    const focused = document.activeElement
    if (focused instanceof HTMLElement && isTyping(focused)) return focused.blur()
    return desk.related.shown || desk.related.hasGroups ? desk.showSearch() : false
  }

  const keys = () => {
    const words = h('div', desk.keys.sheet(), h('h3', t('How to search')), syntaxElements())
    openPanel(t('Keys'), words, { wide: true })
  }

  /** @type {Record<string, () => unknown>} */
  const table = {
    search: () => desk.search.focus(),
    pane: () => desk.pane.toggle(),
    escape,
    down: () => desk.results.move(1),
    up,
    first: () => desk.results.move(-Infinity),
    last: () => desk.results.move(Infinity),
    open: onRow((id) => desk.results.open(id)),
    'open-new': onRow((id) => desk.results.open(id, true)),
    'similar-text': onRow((id) => desk.related.showSimilar(id, 'text')),
    'similar-spectrum': onRow((id) => desk.related.showSimilar(id, 'spectrum')),
    'not-like': onRow((id) => desk.related.notLike(id)),
    select: onRow((id) => desk.selection.toggle(id)),
    'select-range': onRow((id) => desk.selection.range(desk.results.ids(), id)),
    'select-all': () => desk.selectAll(),
    clear: () => desk.selection.clear(),
    'more-like': moreLike,
    undo: () => desk.itemActions.undoLast(),
    dark: toggleTheme,
    keys,
  }

  return (action) => (table[action]?.() === false ? false : undefined)
}
