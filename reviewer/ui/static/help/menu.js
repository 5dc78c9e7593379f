// The help menu at the right end of the top bar: keys, guide, tour, rounds, documentation, language, version.

import { address } from '../common/address.js'
import { h } from '../common/dom.js'
import { Keys } from '../common/keys.js'
import { chooseLanguage, language, languages, t } from '../common/language.js'
import { menuButton, menuKeys } from '../common/popover.js'
import { mayReadLog, openAuditLog } from '../progress/audit_log.js'
import { openRounds } from './rounds.js'

/** @typedef {{onKeys: () => void, onGuide: () => void, onTour: () => void}} HelpCallbacks */

/** A button with a menu below it: arrows move, Enter chooses, Esc closes. */
export class HelpMenu {
  /** @param {Person} me @param {HelpCallbacks} callbacks */
  constructor(me, { onKeys, onGuide, onTour }) {
    const item = { role: 'menuitem', tabIndex: -1 }
    const sign = (/** @type {string} */ text) => h('span.muted', { 'aria-hidden': 'true' }, text)
    const choose = (/** @type {() => any} */ act) => () => {
      menu.hidePopover()
      act()
    }
    const entry = (label, act, action = '') =>
      menuButton(label, action && Keys.of(action), { ...item, onClick: choose(act) })
    const inLanguage = ([code, name]) => {
      const chosen = code === language
      const onClick = choose(() => chosen || chooseLanguage(code))
      const props = { ...item, role: 'menuitemradio', 'aria-checked': String(chosen), lang: code, onClick }
      return h('button.entry', props, h('span', name), chosen && sign('✓'))
    }
    const documents = { ...item, href: address('/docs/'), target: '_blank', onClick: choose(() => {}) }
    const menu = h(
      'div.so-popover.so-menu',
      { id: 'so-help-menu', role: 'menu', popover: 'auto', 'aria-label': t('Help') },
      entry(t('Keys'), onKeys, 'keys'),
      entry(t('Class guide'), onGuide, 'guide'),
      entry(t('Tour of the page'), onTour, 'tour'),
      entry(t('The five rounds'), () => openRounds(me.rules)),
      h('a.entry', documents, h('span', t('Documentation')), sign('↗')),
      mayReadLog(me) && entry(t('Audit log'), openAuditLog),
      Object.entries(languages).map(inLanguage),
      h('p.version', { role: 'none' }, `Spec-o3 ${me.version}`),
    )
    const title = t('keys, class guide, tour, documentation, version')
    const shown = { 'aria-haspopup': 'menu', 'aria-expanded': 'false', 'aria-controls': menu.id }
    const button = h('button.help', { title, ...shown, popoverTargetElement: menu }, t('Help'))
    button.addEventListener('keydown', (event) => event.key === 'ArrowDown' && menu.showPopover())
    menu.addEventListener('toggle', (event) => {
      const isOpen = /** @type {ToggleEvent} */ (event).newState === 'open'
      button.setAttribute('aria-expanded', String(isOpen))
      if (isOpen) menu.querySelector('button')?.focus()
    })
    menuKeys(menu)
    this.root = h('div.so-help', button, menu)
  }
}
