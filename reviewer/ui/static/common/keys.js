// Keyboard shortcuts: keymap.json maps keys to actions on any layout of the keyboard; the "?" sheet lists them.

import { cap, h } from './dom.js'
import { t, word } from './language.js'

/** Actions that decide something, or take it back. */
export const DECIDES = /^(decide|verdict)-|^undo$/

/**
 * Whether a key press belongs to an input method, e.g. Enter that accepts a Chinese word. 229 is its code where the
 * browser has ended the composition before it reports the key.
 * @param {KeyboardEvent} event
 */
export const isComposing = (event) => event.isComposing || event.keyCode === 229 || event.key === 'Process'

/** Whether a key press in this element is text that the person is typing. @param {EventTarget | null} target */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.tagName === 'TEXTAREA' || target.tagName === 'SELECT') return true
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button', 'range'].includes(target.type)
}

/** What the keys around the letters of a US keyboard type, without and with Shift. @type {Record<string, string>} */
const US = {
  ...{ Backquote: '`~', Minus: '-_', Equal: '=+', BracketLeft: '[{', BracketRight: ']}', Backslash: '\\|' },
  ...{ Semicolon: ';:', Quote: '\'"', Comma: ',<', Period: '.>', Slash: '/?' },
}
const US_DIGITS = ')!@#$%^&*('
const FULL_WIDTH = 0xfee0 // between ASCII and the full-width characters of Chinese and Japanese input methods
/** Punctuation of these input methods that is no full-width form of ASCII, e.g. 、【 and —. */
const IDEOGRAPHIC = /^[\u2014-\u2026\u3000-\u303f]$/

/**
 * @typedef {Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey' | 'ctrlKey' | 'altKey' | 'metaKey'> &
 *   {altGraph: boolean, mac: boolean}} KeyPress `code`: where the key is, by its name on a US keyboard; `mac`: Alt
 *   (Option) writes other characters
 */

const isLetter = (/** @type {string} */ key) => [...key].length === 1 && /\p{L}/u.test(key)

/** Whether the layout is a Latin one, as far as this key press shows; `before`: what earlier ones showed. */
const isLatinLayout = (/** @type {string} */ key, /** @type {boolean} */ before) =>
  isLetter(key) ? /\p{Script=Latin}/u.test(key) : before

/** Letters follow Shift alone: Caps Lock decides nothing. @param {string} letter @param {boolean} shift */
const cased = (letter, shift) => (shift ? letter.toUpperCase() : letter.toLowerCase())

/** What a US keyboard types at this place; null: nothing. @param {string} code @param {boolean} shift */
function onUS(code, shift) {
  const [, letter, digit] = /^(?:Key([A-Z])|Digit(\d))$/.exec(code) ?? []
  if (letter) return cased(letter, shift)
  if (digit) return shift ? US_DIGITS[Number(digit)] : digit
  return US[code]?.[Number(shift)] ?? null
}

/**
 * The names that a key press can have in a keymap, the best first: what is typed on a Latin layout, also where its
 * keys are in other places; the place of the key on others. A key of the row of digits is also its digit.
 * @param {KeyPress} press @param {boolean} latin whether the layout is a Latin one @returns {string[]}
 */
export function namesOf({ key, code, shiftKey, altKey, altGraph, mac, ...held }, latin) {
  const typed = key.replace(/^[\uff01-\uff5e]$/, (wide) => String.fromCharCode(wide.charCodeAt(0) - FULL_WIDTH))
  const us = onUS(code, shiftKey)
  const sign = /^[!-~]$/.test(typed) && !/[a-z]/i.test(typed) // an ASCII character that is no letter
  // Some layouts write [ or ; with AltGr, or with Option on a Mac: then it is no modifier of a shortcut.
  if (altGraph && [...typed].length === 1) return sign ? [typed] : []
  const names = charactersOf({ typed, us, sign, shiftKey, code, other: !latin || altKey })
  const modifiers = [(held.ctrlKey || held.metaKey) && 'Ctrl', altKey && 'Alt'].filter(Boolean)
  const withModifiers = names.map((name) => [...modifiers, name].join('+'))
  return sign && mac && altKey ? [typed, ...withModifiers] : withModifiers
}

/** `other`: whether the place of the key counts. */
function charactersOf({ typed, us, sign, shiftKey, code, other }) {
  const digit = code.startsWith('Digit') && !shiftKey ? [code.slice(-1)] : []
  if (/^[a-z]$/i.test(typed)) return [cased(typed, shiftKey)]
  if ([...typed].length > 1 && typed !== 'Dead') return [typed] // e.g. Enter
  if (sign) return other && us !== null ? [us, typed] : [typed, ...digit]
  if (other || IDEOGRAPHIC.test(typed) || (isLetter(typed) && !isLatinLayout(typed, true)))
    return us === null ? [] : [us]
  return digit // e.g. é above 2
}

const onMac = /Mac|iP(hone|ad|od)/.test(navigator.platform)
let latin = true // the layout of the keyboard, as far as earlier key presses show

/**
 * The name of a key press, e.g. "k", "Ctrl+s", on any layout of the keyboard; null: it has no name that is known.
 * @param {KeyboardEvent} event @param {(name: string) => boolean} isKnown
 */
export function nameOf(event, isKnown) {
  const { key, code, shiftKey, ctrlKey, altKey, metaKey } = event
  latin = isLatinLayout(key, latin)
  const held = { shiftKey, ctrlKey, altKey, metaKey, altGraph: event.getModifierState('AltGraph') }
  return namesOf({ key, code, ...held, mac: onMac }, latin).find(isKnown) ?? null
}

/** The digit of a key press, e.g. in a dialog with numbered choices; null: it is none. @param {KeyboardEvent} event */
export const digitOf = (event) => nameOf(event, (name) => /^\d$/.test(name))

export class Keys {
  /** @type {Keys[]} */
  static #all = []

  /** The keys of the visible tab; null if it has none. */
  static inFront = () => Keys.#all.find((keys) => keys.active()) ?? null

  /** The key of an action that every tab has on the same key, as shown in a text. @param {string} action */
  static of = (action) => Keys.#all.map((keys) => keys.of(action)).find(Boolean) ?? ''

  #hinted = false // whether the person knows that an input method is on

  /**
   * @param {Keymap} keymap
   * @param {(action: string) => boolean | void} act false leaves the key to the browser
   * @param {() => boolean} active whether the tab of these keys is visible
   * @param {(text: string) => void} hint show why a key does nothing
   */
  constructor(keymap, act, active, hint) {
    this.groups = keymap.groups
    this.table = new Map(keymap.groups.flatMap((g) => g.keys).map((k) => [k.key, k]))
    this.act = act
    this.active = active
    this.hint = hint
    Keys.#all.push(this)
    document.addEventListener('keydown', (event) => this.#press(event))
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (!this.active()) return
    if (isComposing(event)) {
      if (!isTyping(event.target)) this.#inputMethodIsOn()
      return
    }
    const entry = this.table.get(nameOf(event, (name) => this.table.has(name)) ?? '')
    if (!entry) return
    if (isTyping(event.target) && !entry.typing) return
    // Enter and space on a focused button press it.
    if (event.key === 'Enter' && event.target instanceof HTMLElement && event.target.closest('button, a, summary'))
      return
    // A key held down decides only once: the next items have not been reviewed.
    this.#hinted = false
    const held = event.repeat && DECIDES.test(entry.action)
    if (!held && this.act(entry.action) === false) return
    event.preventDefault()
    event.stopPropagation()
  }

  /** Say so once, until a key acts again. */
  #inputMethodIsOn() {
    if (this.#hinted) return
    this.#hinted = true
    this.hint(t('An input method is on, so keys do nothing. Switch it to English to use them.'))
  }

  /** The key of an action, as shown on a button. @param {string} action */
  of(action) {
    for (const entry of this.table.values()) if (entry.action === action) return entry.show ?? entry.key
    return ''
  }

  /** The "?" sheet, without keys of what a menu shows with its key. */
  sheet() {
    const line = (/** @type {KeyEntry} */ { key, show, what }) => [
      h('dt', cap(show ?? shifted(key))),
      h('dd', word(what)),
    ]
    const listed = (/** @type {KeyEntry[]} */ keys) => keys.filter(({ menu }) => !menu).map(line)
    const sections = this.groups.map(({ title, keys }) => h('section', h('h3', word(title)), h('dl', listed(keys))))
    return h('div.key-sheet', sections)
  }
}

/** A capital letter as it is pressed: I and l look the same in many fonts. @param {string} key */
const shifted = (key) => (/^[A-Z]$/.test(key) ? `⇧${key}` : key)

/**
 * After a click with the mouse the keys are those of the desk again. Otherwise Enter would press the clicked button
 * once more, and the arrows would move in the clicked list; a person who reaches them by Tab wants that.
 */
export function focusDeskAfterClicks() {
  const clicked = ':is(.so-desk :is(button, a, summary, [role=listbox]), [role=tab])'
  // Their sheet or menu takes Escape while the focus is on them; a row of Find is chosen by its focus.
  const keep = ':is([aria-haspopup], [popover] *, [role=menu] *, tbody.hit *)'
  document.addEventListener(
    'click',
    (event) => {
      const focused = document.activeElement
      const byMouse = event.detail > 0 && focused && event.composedPath().includes(focused)
      if (byMouse && focused instanceof HTMLElement && focused.matches(clicked) && !focused.matches(keep))
        focused.blur()
    },
    { capture: true },
  )
}
