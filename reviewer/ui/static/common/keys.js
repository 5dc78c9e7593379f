// The keyboard: one table (keymap.json) says which key does what, acts, and draws the "?" sheet.

import { cap, h } from './dom.js'

const DECIDES = /^(decide|verdict)-|^undo$/

/** True where a key press belongs to what the person is writing. */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.tagName === 'TEXTAREA' || target.tagName === 'SELECT') return true
  return target.tagName === 'INPUT' && !['checkbox', 'radio', 'button', 'range'].includes(target.type)
}

/** "Ctrl+s", "Alt+ArrowUp", "K": the name a press has in the table. Shift is told by the letter itself. */
function nameOf(event) {
  const parts = []
  if (event.ctrlKey || event.metaKey) parts.push('Ctrl')
  if (event.altKey) parts.push('Alt')
  parts.push(event.key)
  return parts.join('+')
}

export class Keys {
  static #all = []

  /** The keys of the tab that is in front; null where it has none. */
  static inFront = () => Keys.#all.find((keys) => keys.active()) ?? null

  /**
   * @param {Object} keymap  keymap.json
   * @param {(action: string) => boolean|void} act  false: not ours, let the browser have the key
   * @param {() => boolean} active  whether the tab these keys belong to is in front
   */
  constructor(keymap, act, active) {
    this.groups = keymap.groups
    this.table = new Map(keymap.groups.flatMap((g) => g.keys).map((k) => [k.key, k]))
    this.act = act
    this.active = active
    Keys.#all.push(this)
    document.addEventListener('keydown', (event) => this.#press(event))
  }

  #press(event) {
    if (!this.active() || event.isComposing) return
    const entry = this.table.get(nameOf(event))
    if (!entry) return
    if (isTyping(event.target) && !entry.typing) return
    // Enter and space on a focused button mean that button.
    if (event.key === 'Enter' && event.target instanceof HTMLElement && event.target.closest('button, a, summary'))
      return
    // A key held down decides once; the items after it have not been looked at.
    const held = event.repeat && DECIDES.test(entry.action)
    if (!held && this.act(entry.action) === false) return
    event.preventDefault()
    event.stopPropagation()
  }

  /** The key that does an action, as shown on a button. */
  of(action) {
    for (const entry of this.table.values()) if (entry.action === action) return entry.show ?? entry.key
    return ''
  }

  sheet() {
    return h(
      'div.key-sheet',
      {},
      this.groups.map((group) =>
        h(
          'section',
          {},
          h('h3', {}, group.title),
          h(
            'dl',
            {},
            group.keys.map((k) => [h('dt', {}, cap(k.show ?? k.key)), h('dd', {}, k.what)]),
          ),
        ),
      ),
    )
  }
}
