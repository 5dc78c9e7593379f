// What each action of the keymap does. Buttons and keys both end here.

import { lasting } from '../common/browser_storage.js'
import { getJSON } from '../common/http.js'
import * as panels from '../common/panels.js'
import * as dialogs from './dialogs.js'
import { toggleTheme } from '../common/theme.js'
import { moveStep, removeStep } from '../trace/steps.js'
import { verbFor } from './decision_bar.js'

const MARK_OF = {
  'mark-supported': 'supported',
  'mark-not-supported': 'not supported',
  'mark-hallucinated': 'hallucinated feature',
  'mark-wrong-frame': 'wrong frame',
  'mark-needless': 'needless zoom',
  'mark-clear': 'cleared',
}
const VERDICT_OF = { 'verdict-yes': 'YES', 'verdict-no': 'NO', 'verdict-cannot-tell': 'cannot tell' }
const SPECTRUM_COMMANDS = [
  'smooth+',
  'smooth-',
  'error',
  'lines',
  'sky',
  'template',
  'frame',
  'redshift',
  'reset',
  'brush',
  'linelist',
  'name-line',
  'unit',
  'zoom-in',
  'zoom-out',
]
const WITHOUT_ITEM = ['filter', 'queue', 'keys', 'dark', 'verdict-first', 'next', 'next-undone', 'undo', 'escape']

export class Actions {
  /** @param desk  the Review page */
  constructor(desk) {
    this.desk = desk
  }

  #step(by) {
    const steps = this.desk.drafting?.steps ?? []
    const at = steps.findIndex((s) => s.id === this.desk.trace.selected)
    const to = steps[Math.max(0, Math.min(steps.length - 1, at + by))]
    if (to) this.desk.select(to.id)
  }

  /** Every key ends here. False leaves the key to the browser. */
  act(action) {
    if (!this.desk.current && !WITHOUT_ITEM.includes(action)) return
    const id = this.desk.trace.selected
    if (action in MARK_OF) return void (id && this.desk.deciding.mark(id, MARK_OF[action]))
    if (action in VERDICT_OF) return void this.desk.deciding.commitVerdict(VERDICT_OF[action])
    if (action === 'brush' && !this.desk.editable)
      return void this.desk.toast('Windows are changed in the revision round.')
    if (SPECTRUM_COMMANDS.includes(action)) return void this.#command(action)
    if (action.startsWith('decide-')) {
      const stay = action.endsWith('-stay')
      const verb = verbFor(this.desk.current?.item, action.replace('-stay', ''))
      return void (verb
        ? this.desk.deciding.decide(verb, { stay })
        : this.desk.toast('There is nothing of that kind to decide in this round.'))
    }
    const does = {
      next: () => this.desk.next(),
      back: () => this.desk.back(),
      'next-undone': () =>
        getJSON(`/api/first?${this.desk.queue.query()}`).then(({ id: to }) => to && this.desk.open(to)),
      filter: () => this.desk.queue.openFilter(),
      queue: () => this.#toggleQueue(),
      'step-next': () => this.#step(1),
      'step-back': () => this.#step(-1),
      edit: () => id && (this.desk.trace.edit(id) || this.desk.toast(this.desk.current.item.may.edit)),
      'add-zoom': () => this.desk.editing.add(id, 'zoom'),
      'add-think': () => this.desk.editing.add(id, 'think'),
      'move-up': () => this.desk.editable && this.desk.editing.restep(moveStep(this.desk.drafting.steps, id, -1)),
      'move-down': () => this.desk.editable && this.desk.editing.restep(moveStep(this.desk.drafting.steps, id, 1)),
      'remove-step': () => this.desk.editable && this.desk.editing.restep(removeStep(this.desk.drafting.steps, id)),
      'edit-undo': () => this.desk.editing.undo(),
      'save-version': () =>
        this.desk.deciding
          .saveVersion()
          .then(
            (made) => made && made !== this.desk.current.item.version.id && this.desk.refresh('Saved as a version.'),
          ),
      'mark-note': () => id && this.#note(id),
      comment: () => this.desk.bar.focusComment(),
      undo: () => this.desk.deciding.undo(),
      'verdict-first': () => this.#toggleVerdictFirst(),
      guide: () => panels.openGuide(this.desk.me.tasks[this.desk.current?.item.task.key]),
      history: () => this.#history(),
      dark: toggleTheme,
      keys: () => panels.openPanel('Keys', this.desk.keys.sheet(), { wide: true }),
      escape: () => this.#escape(),
    }[action]
    if (!does) return false
    return does() === false ? false : undefined
  }

  async #command(action) {
    if (action === 'template' && !this.desk.current.template) return this.#template()
    this.desk.spectrum.command(action)
  }

  /** The first time, fetching it is showing it; after that the key turns it off and on. */
  async #template() {
    try {
      const template = await this.desk.items.template(this.desk.current.item.row.task)
      this.desk.current.template = template
      this.desk.spectrum.command('template', true)
      this.desk.spectrum.update({ template })
    } catch (error) {
      this.desk.tell(error)
    }
  }

  async #note(id) {
    const mine = this.desk.current.item.marks.mine[id]
    const note = await dialogs.askText(`Note on step ${this.desk.drawing.numberOf(id)}`, mine?.note ?? '', 'Keep')
    if (note !== null) await this.desk.deciding.mark(id, mine?.mark ?? 'not supported', note)
  }

  async #history() {
    if (!this.desk.current) return
    try {
      await dialogs.openHistory(await this.desk.items.history(this.desk.current.item.id))
    } catch (error) {
      this.desk.tell(error)
    }
  }

  #toggleQueue() {
    const hidden = this.desk.root.classList.toggle('no-queue')
    lasting.set('so-queue', hidden ? 'hidden' : 'shown')
  }

  async #toggleVerdictFirst() {
    this.desk.verdictFirst = !this.desk.verdictFirst
    lasting.set('so-verdict-first', this.desk.verdictFirst ? 'yes' : 'no')
    this.desk.top.setVerdictFirst(this.desk.verdictFirst)
    this.desk.items.forgetAll()
    this.desk.toast(
      this.desk.verdictFirst
        ? 'Your verdict first: answers and earlier votes stay hidden until you have given yours.'
        : 'Answers are shown at once.',
    )
    if (this.desk.current) await this.desk.open(this.desk.current.item.id)
  }

  #escape() {
    const focused = document.activeElement
    if (focused && focused !== document.body && this.desk.root.contains(focused)) focused.blur()
    if (!this.desk.queue.form.hidden) this.desk.queue.form.hidden = true
  }
}
