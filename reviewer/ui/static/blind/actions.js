// What each key of the scoring page does. Buttons and keys both call these.

import { t } from '../common/language.js'
import { openGuide } from '../common/panels.js'
import { toggleTheme } from '../common/theme.js'
import { openRubric } from './form.js'
import { CANNOT_TELL } from './sheets.js'

const WITHOUT_SHEET = ['keys', 'dark', 'queue', 'escape']

/**
 * The handler of all actions of the keymap.
 * @param {import('./scoring.js').ScoringPage} page
 * @returns {(action: string) => boolean | void} false leaves the key to the browser
 */
export function scoringActions(page) {
  /** @param {number} digit */
  const scoreDigit = (digit) => {
    if (!page.isPair) return page.score(page.form.scale, digit)
    const choice = page.session.rubric.choices[digit - 1]
    return choice && page.choose(choice.key)
  }

  const cannotTell = () => {
    if (!page.isPair) page.score(page.form.scale, CANNOT_TELL)
    else page.notices.toast(t('For a pair choose one of the four answers; “both bad” is one of them.'))
  }

  /** The upper or lower of the two scales, or the left or right trace of a pair. @param {number} at */
  const select = (at) => (page.isPair ? page.selectSide(at) : page.selectScale(page.session.rubric.scales[at].key))

  /** Leave a field; elsewhere the key is the browser's. */
  const escape = () => {
    const focused = document.activeElement
    return focused instanceof HTMLElement && page.root.contains(focused) ? focused.blur() : false
  }

  /** @type {Record<string, () => unknown>} */
  const table = {
    'cannot-tell': cannotTell,
    up: () => select(0),
    down: () => select(1),
    wrong: () => page.markWrong(),
    comment: () => page.form.comment.focus(),
    save: () => page.save(),
    escape,
    'step-next': () => page.selectStep(1),
    'step-back': () => page.selectStep(-1),
    back: () => page.go(-1),
    forward: () => page.go(1),
    queue: () => void page.root.classList.toggle('no-queue'),
    guide: () => openGuide(page.current.sheet.question),
    dark: toggleTheme,
    keys: () => openRubric(page.keys.sheet(), page.session?.rubric),
  }

  return (action) => {
    if (!page.current && !WITHOUT_SHEET.includes(action)) return undefined
    const [, digit] = /^digit-([0-5])$/.exec(action) ?? []
    if (digit) return scoreDigit(Number(digit))
    const act = table[action] ?? (() => page.spectrum.command(action))
    return act() === false ? false : undefined
  }
}
