// What each key of the scoring page does. Buttons and keys both call these.

import { t } from '../common/language.js'
import * as panels from '../common/panels.js'
import { toggleTheme } from '../common/theme.js'
import { openRubric } from './form.js'
import { CANNOT_TELL } from './sheets.js'

const WITHOUT_SHEET = ['keys', 'dark', 'queue', 'escape']
/** @type {Record<string, number>} */
const DIGITS = { 'digit-0': 0, 'digit-1': 1, 'digit-2': 2, 'digit-3': 3, 'digit-4': 4, 'digit-5': 5 }

/**
 * @typedef {Object} ScoringActionsOptions
 * @property {HTMLElement} root
 * @property {() => any} sheet the sheet shown, or null
 * @property {() => any} rubric of the session shown
 * @property {() => boolean} isPair whether two traces are compared
 * @property {() => string} scale that a digit scores
 * @property {(scale: string, value: number | string) => void} score
 * @property {(scale: string) => void} selectScale
 * @property {(choice: string) => void} choose of a pair
 * @property {(side: number) => void} selectSide of a pair
 * @property {(by: number) => void} selectStep
 * @property {(by: number) => void} go to another sheet
 * @property {() => void} markWrong
 * @property {() => void} save
 * @property {() => void} focusComment
 * @property {(message: string) => void} toast
 * @property {(command: string) => boolean} spectrumCommand
 * @property {() => HTMLElement} keySheet
 */

/**
 * The handler of all actions of the keymap.
 * @param {ScoringActionsOptions} on
 * @returns {(action: string) => boolean | void} false leaves the key to the browser
 */
export function scoringActions(on) {
  /** @param {number} digit */
  const scoreDigit = (digit) => {
    if (!on.isPair()) return on.score(on.scale(), digit)
    const choice = on.rubric().choices[digit - 1]
    return choice && on.choose(choice.key)
  }

  const cannotTell = () => {
    if (on.isPair()) on.toast(t('For a pair choose one of the four answers; “both bad” is one of them.'))
    else on.score(on.scale(), CANNOT_TELL)
  }

  /** The upper or lower of the two scales, or the left or right trace of a pair. @param {number} at */
  const select = (at) => (on.isPair() ? on.selectSide(at) : on.selectScale(on.rubric().scales[at].key))

  /** Leave a field; elsewhere the key is the browser's. */
  const escape = () => {
    const focused = document.activeElement
    if (!(focused instanceof HTMLElement) || !on.root.contains(focused)) return false
    return focused.blur()
  }

  /** @type {Record<string, () => unknown>} */
  const table = {
    'cannot-tell': cannotTell,
    up: () => select(0),
    down: () => select(1),
    wrong: on.markWrong,
    comment: on.focusComment,
    save: on.save,
    escape,
    'step-next': () => on.selectStep(1),
    'step-back': () => on.selectStep(-1),
    back: () => on.go(-1),
    forward: () => on.go(1),
    queue: () => void on.root.classList.toggle('no-queue'),
    guide: () => panels.openGuide(on.sheet().question),
    dark: toggleTheme,
    keys: () => openRubric(on.keySheet(), on.rubric()),
  }

  return (action) => {
    if (!on.sheet() && !WITHOUT_SHEET.includes(action)) return undefined
    if (action in DIGITS) return scoreDigit(DIGITS[action])
    const act = table[action]
    if (act) return act() === false ? false : undefined
    return on.spectrumCommand(action) ? undefined : false
  }
}
