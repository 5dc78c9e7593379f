// Keyboard shortcuts: keymap.json maps keys to actions; the "?" sheet lists them.

import { cap, h } from './dom.js'
import { word } from './language.js'

const DECIDES = /^(decide|verdict)-|^undo$/

/**
 * Whether a key press belongs to an input method, e.g. Enter that accepts a Chinese word. 229 is its code where the
 * browser has ended the composition before it reports the key.
 * @param {KeyboardEvent} event
 */
export const isComposing = (event) => event.isComposing || event.keyCode === 229

/** Whether a key press in this element is text that the person is typing. @param {EventTarget | null} target */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.tagName === 'TEXTAREA' || target.tagName === 'SELECT') return true
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button', 'range'].includes(target.type)
}

/**
 * The name of a key press in the keymap, e.g. "Ctrl+s", "Ctrl+Z", "Alt+ArrowUp", "K"; Shift shows in the letter itself.
 * @param {KeyboardEvent} event */
function nameOf(event) {
  const { key } = event
  const parts = []
  if (event.altKey) parts.push('Alt')
  if (!event.ctrlKey && !event.metaKey) return [...parts, key].join('+')
  parts.unshift('Ctrl')
  // With Cmd some browsers give the small letter although Shift is held; with Caps Lock all give the capital one.
  const letter = key.length === 1
  return [...parts, letter ? (event.shiftKey ? key.toUpperCase() : key.toLowerCase()) : key].join('+')
}

export class Keys {
  /** @type {Keys[]} */
  static #all = []

  /** The keys of the visible tab; null if it has none. */
  static inFront = () => Keys.#all.find((keys) => keys.active()) ?? null

  /**
   * @param {Keymap} keymap
   * @param {(action: string) => boolean | void} act false leaves the key to the browser
   * @param {() => boolean} active whether the tab of these keys is visible
   */
  constructor(keymap, act, active) {
    this.groups = keymap.groups
    this.table = new Map(keymap.groups.flatMap((g) => g.keys).map((k) => [k.key, k]))
    this.act = act
    this.active = active
    Keys.#all.push(this)
    document.addEventListener('keydown', (event) => this.#press(event))
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (!this.active() || isComposing(event)) return
    const entry = this.table.get(nameOf(event))
    if (!entry) return
    if (isTyping(event.target) && !entry.typing) return
    // Enter and space on a focused button press it.
    if (event.key === 'Enter' && event.target instanceof HTMLElement && event.target.closest('button, a, summary'))
      return
    // A key held down decides only once: the next items have not been reviewed.
    const held = event.repeat && DECIDES.test(entry.action)
    if (!held && this.act(entry.action) === false) return
    event.preventDefault()
    event.stopPropagation()
  }

  /** The key of an action, as shown on a button. @param {string} action */
  of(action) {
    for (const entry of this.table.values()) if (entry.action === action) return entry.show ?? entry.key
    return ''
  }

  /** The "?" sheet. */
  sheet() {
    return h(
      'div.key-sheet',
      {},
      this.groups.map((group) =>
        h(
          'section',
          {},
          h('h3', {}, word(group.title)),
          h(
            'dl',
            {},
            group.keys.map((k) => [h('dt', {}, cap(k.show ?? k.key)), h('dd', {}, word(k.what))]),
          ),
        ),
      ),
    )
  }
}
