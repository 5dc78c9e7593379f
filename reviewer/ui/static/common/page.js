// What the pages of tables share: Data, People and Progress.

import { h } from './dom.js'

/** @typedef {import('./dom.js').Child} Child */

/**
 * Build a page in the element of its tab, once, and refresh it each time the tab is shown.
 * @template {{refresh: () => any}} P @param {HTMLElement | null} root @param {(root: HTMLElement) => P} build
 * @returns {P | null} null where it is there already
 */
export function mountPage(root, build) {
  if (!root || root.dataset.mounted) return null
  root.dataset.mounted = 'yes'
  const page = build(root)
  new IntersectionObserver((entries) => entries.some((e) => e.isIntersecting) && page.refresh()).observe(root)
  return page
}

/** @param {'button' | 'button.primary' | 'button.link' | 'button.danger'} kind */
export const button = (text, onClick, kind = 'button') => h(kind, { onClick }, text)

/**
 * A table, or the text `none` where it has no rows.
 * @param {Child[]} heads @param {Child[][]} rows their cells @param {(at: number) => Record<string, any>} propsOf a row
 */
export function table(heads, rows, none = '', propsOf = () => ({})) {
  if (none && !rows.length) return h('p.muted', none)
  const head = heads.map((name) => (name ? h('th', { scope: 'col' }, name) : h('td')))
  const cells = rows.map((row) => row.map((cell) => h('td', cell)))
  const body = cells.map((row, at) => h('tr', propsOf(at), row))
  return h('table', h('thead', h('tr', head)), h('tbody', body))
}
