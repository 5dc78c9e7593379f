// Changing the steps of the item in front: text, windows, order. Every new window is looked at by the server's tool.

import { postJSON } from './http.js'
import { insertAfter, newStepId, replaceStep, windowOf } from './steps.js'

/** Windows are kept to a tenth of an ångström: finer than any pixel here, and readable. */
const round = (x) => Math.round(x * 10) / 10

const WIDEST_NEW_WINDOW = 400

/** A window for a new zoom: what is in view, or its middle 200 Å where that is most of the spectrum; in the tool's frame. */
function newWindow([lo, hi], stretch) {
  const middle = (lo + hi) / 2
  const [from, to] = hi - lo <= WIDEST_NEW_WINDOW ? [lo, hi] : [middle - 100, middle + 100]
  return [round(from / stretch), round(to / stretch)]
}

export class Editing {
  /** @param desk  the Review page: what is in front, and how to draw it again */
  constructor(desk) {
    this.desk = desk
    this.looks = new Map()
  }

  /** A change made inside a card, which shows it already. */
  edit(steps, field) {
    this.desk.drafting.change(steps, { field })
    this.desk.trace.state.steps = steps
    this.desk.trace.state.editedBy = this.desk.editedBy()
    this.desk.showBar()
  }

  /** A change made from outside the cards. */
  restep(steps) {
    if (steps === this.desk.drafting.steps) return
    this.desk.drafting.change(steps)
    this.desk.trace.state.editedBy = this.desk.editedBy()
    this.desk.trace.setSteps(steps)
    this.desk.updateWindows()
    this.desk.showBar()
  }

  async look(id, lo, hi, label) {
    const step = this.desk.drafting.steps.find((s) => s.id === id)
    const args = { ...step.arguments, wavelength_range: [round(lo), round(hi)] }
    if (label !== undefined) args.label = label
    if (!args.label) delete args.label
    const item = this.desk.current.item.id
    const ticket = this.looks.get(id) ?? 0
    this.looks.set(id, ticket + 1)
    try {
      const seen = await postJSON('/api/look', { item, arguments: args })
      if (this.desk.current?.item.id !== item || this.looks.get(id) !== ticket + 1) return
      if (!seen.step.ok) this.desk.toast(seen.step.observation)
      this.desk.current.hints = { ...this.desk.current.hints, [id]: seen.hints }
      this.desk.trace.state.hints = this.desk.current.hints
      this.restep(replaceStep(this.desk.drafting.steps, id, seen.step))
    } catch (error) {
      this.desk.tell(error)
      this.desk.trace.setSteps([...this.desk.drafting.steps])
      this.desk.updateWindows()
    }
  }

  relabel(id, label) {
    const window = windowOf(this.desk.drafting.steps.find((s) => s.id === id))
    if (window) this.look(id, window[0], window[1], label)
  }

  dragged(lo, hi, final) {
    const id = this.desk.trace.selected
    const step = this.desk.drafting?.steps.find((s) => s.id === id)
    if (!step || step.kind !== 'zoom' || !this.desk.editable) return
    if (final) this.look(id, lo, hi)
    else this.desk.trace.previewWindow(id, round(lo), round(hi))
  }

  async add(after, kind) {
    if (!this.desk.editable) return
    const steps = this.desk.drafting.steps
    const id = newStepId(steps, this.desk.current.item.originals.map((s) => s.id))
    if (kind === 'think') {
      this.restep(insertAfter(steps, after, { id, kind: 'think', text: '' }))
      this.desk.select(id)
      this.desk.trace.edit(id)
      return
    }
    if (!this.desk.current.spectrum) return this.desk.toast('This item came without its spectrum, so no window can be drawn.')
    const { medium, redshift } = this.desk.current.item.trajectory
    const rest = this.desk.current.spectrum.frame === 'observed' && Boolean(redshift)
    const [lo, hi] = newWindow(this.desk.spectrum.visibleRange(), rest ? 1 + redshift : 1)
    const frame = rest ? 'rest' : this.desk.current.spectrum.frame
    const blank = { id, kind: 'zoom', arguments: { wavelength_range: [lo, hi] }, frame, z: rest ? redshift : 0, medium, observation: '', ok: true, picture: null }
    this.restep(insertAfter(steps, after, blank))
    this.desk.select(id)
    await this.look(id, lo, hi)
  }

  /** Take back the last change; false where there is none. */
  undo() {
    const { desk } = this
    if (!desk.editable || !desk.drafting.undo()) return false
    desk.trace.state.editedBy = desk.editedBy()
    desk.trace.setSteps(desk.drafting.steps)
    desk.updateWindows()
    desk.showBar()
    return true
  }
}
