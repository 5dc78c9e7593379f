// Changing the steps of the item in front: text, windows, order. Every new window is looked at by the server's tool.

import { postJSON } from '../common/http.js'
import { insertAfter, newStepId, replaceStep, windowOf } from '../trace/steps.js'

/** Windows are kept to a tenth of an ångström: finer than any pixel here, and readable. */
const round = (x) => Math.round(x * 10) / 10

const WIDEST_NEW_WINDOW = 400
const PICTURES = 20

/** A window for a new zoom: what is in view, or its middle 200 Å where that is most of the spectrum; in the tool's frame. */
function newWindow([lo, hi], stretch) {
  const middle = (lo + hi) / 2
  const [from, to] = hi - lo <= WIDEST_NEW_WINDOW ? [lo, hi] : [middle - 100, middle + 100]
  return [round(from / stretch), round(to / stretch)]
}

/** What hints are known by: they follow from the spectrum and from what the tool is asked, whichever step asks it. */
const asked = (item, step) => `${item} ${JSON.stringify(step.arguments)}`

export class Editing {
  /** @param desk  the Review page: what is in front, and how to draw it again */
  constructor(desk) {
    this.desk = desk
    this.looks = new Map()
    this.underway = new Set()
    this.hints = new Map()
    this.pictures = new Map() // as they came with the look: asked for by name, they would come later
  }

  /** A change made inside a card, which shows it already. */
  edit(steps, field) {
    this.desk.drafting.change(steps, { field })
    this.desk.trace.state.steps = steps
    this.desk.trace.state.editedBy = this.desk.drawing.editedBy()
    this.desk.over('edit')
    this.desk.showBar()
  }

  /** A change made from outside the cards. */
  restep(steps) {
    const before = this.desk.drafting.steps
    if (steps === before) return
    this.desk.drafting.change(steps)
    this.#redraw(before)
  }

  /** Draw the steps as they are now; where the selected one is gone, the one in its place is selected. */
  #redraw(before) {
    const {
      drafting: { steps },
      trace,
    } = this.desk
    const { selected } = trace
    this.desk.over('edit')
    trace.state.editedBy = this.desk.drawing.editedBy()
    trace.setSteps(steps)
    if (selected && !steps.some((s) => s.id === selected)) {
      const instead = steps[before.findIndex((s) => s.id === selected)] ?? steps.at(-1)
      if (instead) this.desk.select(instead.id)
    }
    this.desk.updateWindows()
    this.desk.showBar()
    this.#showHints()
  }

  /** The server's hints on the version in front have come. */
  hintsCame(hints) {
    const { item } = this.desk.current
    for (const step of item.trajectory.steps)
      if (step.kind === 'zoom') this.hints.set(asked(item.id, step), hints[step.id] ?? [])
    this.#showHints()
  }

  /** Beside each zoom what was measured in its present window; a window found again, or taken back to, is measured if need be. */
  #showHints() {
    const { item, spectrum } = this.desk.current
    if (!spectrum) return
    const saved = new Map(item.trajectory.steps.map((s) => [s.id, asked(item.id, s)]))
    const zooms = this.desk.drafting.steps.filter((s) => s.kind === 'zoom')
    this.desk.current.hints = Object.fromEntries(zooms.map((s) => [s.id, this.hints.get(asked(item.id, s))]))
    this.desk.trace.refresh({ hints: this.desk.current.hints })
    for (const step of zooms) {
      const name = asked(item.id, step)
      if (!this.hints.has(name) && saved.get(step.id) !== name && step.picture) this.#measure(item.id, step, name)
    }
  }

  async #measure(item, step, name) {
    this.hints.set(name, undefined)
    try {
      this.hints.set(name, (await postJSON('/api/look', { item, arguments: step.arguments })).hints)
      if (this.desk.current?.item.id === item) this.#showHints()
    } catch (error) {
      this.hints.delete(name)
      this.desk.tell(error)
    }
  }

  /** When every window asked for has been answered: nothing may be saved or submitted before. */
  async settled() {
    while (this.underway.size) await Promise.all(this.underway)
  }

  /** Have the tool look at a step's new window. */
  look(id, lo, hi, label) {
    const looking = this.#look(id, lo, hi, label).finally(() => this.underway.delete(looking))
    this.underway.add(looking)
    return looking
  }

  async #look(id, lo, hi, label) {
    const step = this.desk.drafting.steps.find((s) => s.id === id)
    const args = { ...step.arguments, wavelength_range: [round(lo), round(hi)] }
    if (label !== undefined) args.label = label
    if (!args.label) delete args.label
    const item = this.desk.current.item.id
    const ticket = this.looks.get(id) ?? 0
    this.looks.set(id, ticket + 1)
    try {
      const looking = postJSON('/api/look', { item, arguments: args })
      this.desk.drawing.foresee(replaceStep(this.desk.drafting.steps, id, { arguments: args }))
      const seen = await looking
      if (this.desk.current?.item.id !== item || this.looks.get(id) !== ticket + 1) return
      if (seen.png) this.#keepPicture(seen.step.picture, seen.png)
      if (!seen.step.ok) this.desk.toast(seen.step.observation)
      this.hints.set(asked(item, seen.step), seen.hints)
      this.restep(replaceStep(this.desk.drafting.steps, id, seen.step))
    } catch (error) {
      this.desk.tell(error)
      this.desk.trace.setSteps([...this.desk.drafting.steps])
      this.desk.updateWindows()
    }
  }

  #keepPicture(name, png) {
    this.pictures.set(name, `data:image/png;base64,${png}`)
    if (this.pictures.size > PICTURES) this.pictures.delete(this.pictures.keys().next().value)
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
    const id = newStepId(
      steps,
      this.desk.current.item.originals.map((s) => s.id),
    )
    if (kind === 'think') {
      this.restep(insertAfter(steps, after, { id, kind: 'think', text: '' }))
      this.desk.select(id)
      this.desk.trace.edit(id)
      return
    }
    if (!this.desk.current.spectrum)
      return this.desk.toast('This item came without its spectrum, so no window can be drawn.')
    const { medium, redshift } = this.desk.current.item.trajectory
    const rest = this.desk.current.spectrum.frame === 'observed' && Boolean(redshift)
    const [lo, hi] = newWindow(this.desk.spectrum.visibleRange(), rest ? 1 + redshift : 1)
    const frame = rest ? 'rest' : this.desk.current.spectrum.frame
    const blank = {
      id,
      kind: 'zoom',
      arguments: { wavelength_range: [lo, hi] },
      frame,
      z: rest ? redshift : 0,
      medium,
      observation: '',
      ok: true,
      picture: null,
    }
    this.restep(insertAfter(steps, after, blank))
    this.desk.select(id)
    await this.look(id, lo, hi)
  }

  /** Take back the last change; false where there is none. */
  undo() {
    const { desk } = this
    const before = desk.drafting?.steps
    if (!desk.editable || !desk.drafting.undo()) return false
    this.#redraw(before)
    return true
  }
}
