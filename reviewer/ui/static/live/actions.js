// What each key of the Live tab does. Buttons and keys both end here.

import { Menu } from './menu.js'
import * as panels from '../review/panels.js'
import { toggleTheme } from '../common/theme.js'

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

export class LiveActions {
  /** @param desk  the Live page */
  constructor(desk) {
    this.desk = desk
  }

  /** Every key ends here. False leaves the key to the browser. */
  act(action) {
    const { desk } = this
    if (SPECTRUM_COMMANDS.includes(action)) return void desk.spectrum.command(action)
    const does = {
      run: () => desk.asking.run(),
      stop: () => this.#stop(),
      'run-all': () => desk.asking.runAll(),
      send: () => desk.asking.send(),
      settings: () => desk.bar.settings.click(),
      next: () => this.#row(1),
      back: () => this.#row(-1),
      library: () => desk.bringing.fromLibrary(),
      files: () => desk.bench.choose(),
      off: () => desk.current && desk.bringing.takeOff(desk.current.row.id),
      queue: () => desk.root.classList.toggle('no-queue'),
      'step-next': () => this.#step(1),
      'step-back': () => this.#step(-1),
      follow: () => desk.trace.follow(),
      'sample-next': () => this.#sample(1),
      'sample-back': () => this.#sample(-1),
      vote: () => desk.shownRun?.consensus && desk.showSample('vote'),
      template: () => desk.front.template().catch((error) => desk.tell(error)),
      guide: () => panels.openGuide(desk.me.tasks[desk.question]),
      dark: toggleTheme,
      keys: () => panels.openPanel('Keys', desk.keys.sheet(), { wide: true }),
    }[action]
    if (!does) return false
    return does() === false ? false : undefined
  }

  /** What is open is closed and what is typed in is left, before a run is stopped. */
  #stop() {
    if (Menu.closeOpen()) return
    const focused = document.activeElement
    if (focused instanceof HTMLElement && focused.matches('input, select, textarea')) return focused.blur()
    return this.desk.asking.stop()
  }

  #row(by) {
    const { rows } = this.desk.bench
    const at = rows.findIndex((row) => row.id === this.desk.current?.row.id)
    const to = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
    if (to) this.desk.select(to.id)
  }

  #step(by) {
    const { vote, shownTrace, trace, spectrum } = this.desk
    const steps = vote?.windows ?? shownTrace?.steps ?? []
    const selected = vote ? spectrum.selected : trace.selected
    const at = steps.findIndex((step) => step.id === selected)
    const from = at < 0 && by < 0 ? steps.length : at
    const to = steps[Math.max(0, Math.min(steps.length - 1, from + by))]
    if (to) this.desk.choose(to.id, { scroll: true })
  }

  #sample(by) {
    const count = this.desk.shownRun?.traces.length ?? 0
    if (count < 2) return
    const at = this.desk.sample === 'vote' ? (by > 0 ? -1 : 0) : this.desk.sample
    this.desk.showSample(Math.max(0, Math.min(count - 1, at + by)))
  }
}
