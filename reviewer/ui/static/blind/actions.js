// What each key of the scoring page does. Buttons and keys both end here.

import * as panels from '../common/panels.js'
import { toggleTheme } from '../common/theme.js'
import { openRubric } from './form.js'
import { CANNOT_TELL } from './sheets.js'

const SPECTRUM_COMMANDS = [
  'smooth+',
  'smooth-',
  'error',
  'lines',
  'sky',
  'frame',
  'redshift',
  'reset',
  'linelist',
  'name-line',
  'unit',
  'zoom-in',
  'zoom-out',
]
const WITHOUT_SHEET = ['keys', 'dark', 'queue', 'escape']
const DIGITS = { 'digit-0': 0, 'digit-1': 1, 'digit-2': 2, 'digit-3': 3, 'digit-4': 4, 'digit-5': 5 }

export class BlindActions {
  /** @param desk  the scoring page */
  constructor(desk) {
    this.desk = desk
  }

  /** Every key ends here. False leaves the key to the browser. */
  act(action) {
    const { desk } = this
    if (!desk.current && !WITHOUT_SHEET.includes(action)) return
    if (SPECTRUM_COMMANDS.includes(action)) return void desk.spectrum.command(action)
    if (action in DIGITS) return void this.#digit(DIGITS[action])
    const does = {
      'cannot-tell': () =>
        desk.pair
          ? desk.toast('Of a pair one of the four is chosen; “both bad” is one of them.')
          : desk.score(desk.form.front, CANNOT_TELL),
      up: () => this.#front(0),
      down: () => this.#front(1),
      wrong: () => desk.markWrong(),
      comment: () => desk.form.comment.focus(),
      save: () => desk.save(),
      escape: () => this.#escape(),
      'step-next': () => this.#step(1),
      'step-back': () => this.#step(-1),
      back: () => desk.go(-1),
      forward: () => desk.go(1),
      queue: () => desk.root.classList.toggle('no-queue'),
      guide: () => panels.openGuide(desk.current.sheet.question),
      dark: toggleTheme,
      keys: () => openRubric(desk.keys, desk.session?.rubric),
    }[action]
    if (!does) return false
    return does() === false ? false : undefined
  }

  #digit(digit) {
    const { desk } = this
    if (!desk.pair) return desk.score(desk.form.front, digit)
    const choice = desk.session.rubric.choices[digit - 1]
    if (choice) desk.choose(choice.key)
  }

  #front(at) {
    const { desk } = this
    if (desk.pair) desk.lookAt(at)
    else desk.bringForward(desk.session.rubric.scales[at].key)
  }

  #step(by) {
    const { steps } = this.desk.current.traces[this.desk.side]
    const at = steps.findIndex((step) => step.id === this.desk.views[this.desk.side].selected)
    const to = steps[Math.max(0, Math.min(steps.length - 1, at + by))]
    if (to) this.desk.select(this.desk.side, to.id)
  }

  /** Leaves a field; otherwise the key is the browser's. */
  #escape() {
    const focused = document.activeElement
    if (!this.desk.root.contains(focused)) return false
    focused.blur()
  }
}
