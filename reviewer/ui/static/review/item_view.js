// The item in front as it is drawn: its trace with marks and hints, its spectrum with the windows of the trace.

import { h } from '../common/dom.js'
import * as panels from '../common/panels.js'
import { moveStep, removeStep, replaceStep, windowOf, windowsOf } from '../trace/steps.js'
import { pictureURL } from './items.js'

export class Drawing {
  /** @param desk  the Review page */
  constructor(desk) {
    this.desk = desk
  }

  trace() {
    const { desk } = this
    const { item, hints } = desk.current
    const { steps } = desk.drafting
    desk.trace.show({
      steps,
      originals: new Map((item.originals.length ? item.originals : item.trajectory.steps).map((s) => [s.id, s])),
      editedBy: this.editedBy(),
      marks: item.marks.mine,
      hints: item.row.spectrum ? hints : Object.fromEntries(steps.map((s) => [s.id, []])),
      pictureURL: (step) =>
        desk.editing.pictures.get(step.picture) ?? pictureURL(item.trajectory, step.picture, step.arguments),
      overviewURL: pictureURL(item.trajectory, item.trajectory.overview, {}),
      editable: desk.editable,
      markable: !item.hidden && item.standing.round !== null,
      hidden: item.hidden,
      faults: item.trajectory.faults,
    })
    if (item.marks.others.length) {
      desk.parts.trace.prepend(
        h(
          'details.note',
          {},
          h('summary', {}, `Marks by others: ${item.marks.others.length}`),
          h(
            'ul',
            {},
            item.marks.others.map((m) =>
              h('li', {}, `${m.person} · step ${this.numberOf(m.step)}: ${m.mark}${m.note ? ` “${m.note}”` : ''}`),
            ),
          ),
        ),
      )
    }
  }

  spectrum(sameItem) {
    const { desk } = this
    const { item, spectrum, atlas } = desk.current
    const { steps } = desk.drafting
    desk.parts.spectrum.classList.toggle('absent', spectrum === null)
    if (spectrum === null) return
    if (sameItem) return this.windows()
    const moved =
      item.originals.length &&
      JSON.stringify(windowsOf(item.originals)) !== JSON.stringify(windowsOf(item.trajectory.steps))
    desk.spectrum.show({
      id: item.id,
      spectrum,
      redshift: item.trajectory.redshift ?? spectrum.redshift,
      windows: windowsOf(steps),
      lines: atlas.lines,
      bands: atlas.bands,
      second: moved ? windowsOf(item.originals) : [],
      editable: desk.editable,
    })
    const first = steps.find((s) => s.kind === 'zoom' && windowOf(s))
    if (first) desk.select(first.id, { zoomTo: true, scroll: false })
    else if (steps[0]) desk.select(steps[0].id, { scroll: false })
  }

  numberOf = (id) => this.desk.drafting.steps.findIndex((s) => s.id === id) + 1 || id

  editedBy() {
    const { drafting, current, me } = this.desk
    const before = new Map(drafting.original.map((s) => [s.id, JSON.stringify(s)]))
    const mine = drafting.steps.filter((s) => before.get(s.id) !== JSON.stringify(s)).map((s) => [s.id, me.initials])
    return { ...current.item.edited_by, ...Object.fromEntries(mine) }
  }

  windows() {
    const { current, drafting, spectrum, trace } = this.desk
    if (current.spectrum) spectrum.update({ windows: windowsOf(drafting.steps), selected: trace.selected })
  }

  /** @param steps  as they will be once the server has looked */
  foresee(steps) {
    if (this.desk.current.spectrum) this.desk.spectrum.foresee(windowsOf(steps))
  }

  /** What the cards of the trace do. */
  callbacks() {
    const { desk } = this
    const steps = () => desk.drafting.steps
    return {
      onSelect: (id) => desk.select(id, { scroll: false }),
      onText: (id, text) => desk.editing.edit(replaceStep(steps(), id, { text }), id),
      onAnswer: (id, change) => desk.editing.edit(replaceStep(steps(), id, change), id),
      onWindow: (id, lo, hi) => desk.editing.look(id, lo, hi),
      onLabel: (id, label) => desk.editing.relabel(id, label),
      onMark: (id, mark) => desk.deciding.mark(id, mark),
      onAdd: (id, kind) => desk.editing.add(id, kind),
      onMove: (id, by) => desk.editing.restep(moveStep(steps(), id, by)),
      onRemove: (id) => desk.editing.restep(removeStep(steps(), id)),
      onPicture: panels.openPicture,
      onMistyped: desk.toast,
    }
  }
}
