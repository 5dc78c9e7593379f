// Pointer gestures on a panel: drag across the plot to zoom the wavelengths (with Ctrl or Alt the flux too); drag an
// edge, a number or (with Shift, or in brush mode) across the plot to set the window; click a band to select its step;
// turn the wheel to zoom. Drags on the axes are plotly's.

import { h } from '../common/dom.js'
import { angstrom, redshift } from '../common/format.js'
import { t, word } from '../common/language.js'
import { isWithin, pixelsIn, redshiftOf, shownFactor } from './frames.js'
import { peakNear } from './math.js'

const CLICK = 4 // px that a pointer may move within a click

/**
 * @param {import('./panel.js').Panel} panel
 * @param {any} act what a gesture does, by name: see `#gestures` of view.js. Of a drag it gets [lo, hi] in wavelengths
 *   of the data; null: it was cancelled
 * @param {AbortSignal} signal  takes the listeners away
 */
export function attachGestures(panel, act, signal) {
  const { host } = panel
  /** @type {any} */
  let drag = null // in progress

  const at = (event) => {
    const box = host.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }
  const inPlot = ({ x, y }) => {
    const { left, right, top, bottom } = panel.geometry ?? {}
    return isWithin(x, [left, right]) && isWithin(y, [top, bottom])
  }
  const wavelengthAt = (x) => {
    const { left, right, wavelength } = panel.geometry
    return wavelength(Math.max(left, Math.min(right, x)))
  }
  const isFar = ({ x, y }, from) => Math.abs(x - from.x) > CLICK || Math.abs(y - from.y) > CLICK

  function begin(event) {
    if (event.button !== 0 || !panel.geometry) return
    const point = at(event)
    const edge = event.target.closest('.so-edge')
    const badge = event.target.closest('.so-badge')
    const window = act.selected()
    // With Shift or in brush mode a new window begins here, even next to an edge of the old one.
    if (inPlot(point) && act.measuring() && !event.shiftKey) drag = { kind: 'width' }
    else if (inPlot(point) && (event.shiftKey || act.brushing())) drag = { kind: 'brush' }
    else if (edge && window) drag = { kind: 'edge', end: edge.dataset.end, start: window.span }
    else if (badge) {
      const id = badge.dataset.step
      drag = { kind: 'badge', id, movable: panel.scene.editable && window?.id === id, start: window?.span }
    } else if (inPlot(point)) drag = { kind: 'zoom', both: event.ctrlKey || event.altKey || event.metaKey }
    else return
    drag.from = point
    drag.moved = false
    // A finger may still begin to scroll the page: the browser then cancels the drag.
    if (drag.kind === 'zoom' && event.pointerType === 'touch') return
    event.preventDefault()
    host.setPointerCapture(event.pointerId)
  }

  function move(event) {
    const point = at(event)
    act.hover(inPlot(point) ? wavelengthAt(point.x) : null)
    if (!drag) return
    drag.moved ||= isFar(point, drag.from)
    if (drag.moved) follow(drag, point)
  }

  /** What a zoom shows: wavelengths, and two heights if the flux is zoomed too; null for a mere slip. */
  function zoomed({ from, both }, { x, y }) {
    if (Math.abs(x - from.x) <= CLICK) return null
    const { top, bottom } = panel.geometry
    const heights = [from.y, y].map((height) => Math.max(top, Math.min(bottom, height))).sort((a, b) => a - b)
    const span = ordered(wavelengthAt(from.x), wavelengthAt(x))
    return { span, heights: both && heights[1] - heights[0] > CLICK ? heights : null }
  }

  function follow({ kind, end: edge, start, from, movable, both }, point) {
    const [before, now] = [wavelengthAt(from.x), wavelengthAt(point.x)]
    if (kind === 'zoom') {
      const part = zoomed({ from, both }, point)
      act.zooming(part?.span ?? null, part?.heights ?? null)
    }
    if (kind === 'width') act.width(ordered(before, now), false)
    if (kind === 'brush') act.window(ordered(before, now), false)
    if (kind === 'edge') act.window(ordered(now, start[edge === 'lo' ? 1 : 0]), false)
    if (kind === 'badge' && movable) act.window([start[0] + now - before, start[1] + now - before], false)
  }

  function end(event) {
    if (!drag) return
    const done = drag
    const point = at(event)
    done.moved ||= isFar(point, done.from)
    drag = null
    if (host.hasPointerCapture(event.pointerId)) host.releasePointerCapture(event.pointerId)
    if (done.moved) {
      follow(done, point)
      if (done.kind === 'width') act.width(undefined, true)
      else if (done.kind === 'zoom') {
        act.zooming(null, null)
        const part = zoomed(done, point)
        if (part) act.zoom(part.span, part.heights)
      } else if (done.kind !== 'badge' || done.movable) act.window(undefined, true)
    } else if (done.kind === 'badge') act.select(done.id)
    else if (done.kind === 'zoom') {
      const band = narrowest(panel, wavelengthAt(done.from.x))
      if (band) act.select(band.id)
    }
  }

  function cancel() {
    if (drag?.kind === 'width') act.width(null, false)
    else if (drag?.kind === 'zoom') act.zooming(null, null)
    else if (drag?.moved) act.window(null, false)
    drag = null
  }

  host.addEventListener('pointerdown', begin, { capture: true })
  // plotly listens for the events that follow; it would keep a finger from scrolling the page.
  for (const name of ['mousedown', 'touchstart'])
    host.addEventListener(name, (event) => drag && event.stopPropagation(), { capture: true, passive: true })
  host.addEventListener('pointermove', move)
  host.addEventListener('pointerleave', () => act.hover(null))
  // A drag may end outside of the panel.
  window.addEventListener('pointerup', end, { signal })
  host.addEventListener('pointercancel', cancel)
  window.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || !drag?.moved) return
      event.stopPropagation()
      cancel()
    },
    { capture: true, signal },
  )
  host.addEventListener('dblclick', (event) => {
    const target = /** @type {Element} */ (event.target)
    if (inPlot(at(event)) && !target.closest('.so-edge, .so-badge, [data-line]')) act.reset()
  })
  host.addEventListener('contextmenu', (event) => {
    const point = at(event)
    if (!inPlot(point)) return
    event.preventDefault()
    act.name(wavelengthAt(point.x))
  })
  host.addEventListener(
    'wheel',
    (event) => {
      const point = at(event)
      if (!inPlot(point)) return
      event.preventDefault()
      act.wheel(wavelengthAt(point.x), event)
    },
    { passive: false },
  )
  for (const edge of panel.edges)
    edge.addEventListener('keydown', (event) => {
      const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
      if (!direction || event.ctrlKey || event.altKey || event.metaKey) return
      event.preventDefault()
      event.stopPropagation()
      act.nudge(edge.dataset.end, direction * (event.shiftKey ? 10 : 1))
    })
  panel.over.addEventListener('pointerover', (event) => {
    const { line, pixel } = event.target.closest('[data-line], [data-pixel]')?.dataset ?? {}
    if (pixel) act.offScale(Number(pixel), at(event))
    else act.line(line ? Number(line) : null, at(event))
  })
  panel.over.addEventListener('click', (event) => {
    const mark = event.target.closest('[data-line]')
    if (mark) act.zoomToLine(Number(mark.dataset.line))
  })
  panel.over.addEventListener('pointerout', () => act.line(null))
}

export const ordered = (a, b) => (a < b ? [a, b] : [b, a])

/** The narrowest band under a wavelength: a narrow window inside a wide one can still be clicked. */
function narrowest(panel, wavelength) {
  return panel.scene.windows
    .filter(({ span }) => isWithin(wavelength, span))
    .sort((a, b) => a.span[1] - a.span[0] - (b.span[1] - b.span[0]))[0]
}

const REACH = 8 // screen pixels around the pointer in which the feature is searched
const HIGHEST = 8 // redshift

export class Naming {
  /** @param {HTMLElement} root @param {{onRedshift: (z: number) => void, onMark: (at: number | null) => void}} on */
  constructor(root, on) {
    this.on = on
    this.title = h('div.so-naming-title')
    this.list = h('select.so-naming-list', {
      ...{ size: 9, 'aria-label': t('Which line is this') },
      onchange: () => this.on.onRedshift(Number(this.list.value)),
      onclick: () => this.close(),
      onblur: () => this.close(),
      onkeydown: (event) => this.#key(event),
    })
    this.menu = h('div.so-naming', { hidden: true }, this.title, this.list)
    root.append(this.menu)
  }

  /**
   * Let the person name the line at `wavelength` (of the data) in a panel. False for rest-frame data, which have no
   * redshift to find. Arrow keys try the lines, Enter or a click keeps one, Escape restores the old redshift.
   */
  open(panel, wavelength, item, state) {
    const { spectrum } = item
    if (spectrum.frame === 'rest') return false
    const reach = REACH * panel.geometry.perPixel
    const pixels = pixelsIn(spectrum.wavelength, [wavelength - reach, wavelength + reach])
    const peak = peakNear(spectrum.wavelength, panel.scene.drawn.flux, ...pixels)
    this.before = state.z
    const shown = angstrom(peak * shownFactor(spectrum, state.z, state.frame))
    this.title.textContent = t('{wavelength} {frame} is', { wavelength: shown, frame: word(state.frame) })
    const option = ({ name, z }) => h('option', { value: z }, `${name} · z ${redshift(z)}`)
    this.list.replaceChildren(...candidates(item, peak, state).map(option))
    this.list.selectedIndex = -1
    this.#place(panel, peak)
    this.on.onMark(peak)
    this.list.focus()
    return true
  }

  close() {
    this.menu.hidden = true
    this.on.onMark(null)
  }

  /** Place the menu next to the feature, all of it inside the view. */
  #place(panel, peak) {
    this.menu.hidden = false
    const { clientWidth, clientHeight } = /** @type {HTMLElement} */ (this.menu.offsetParent)
    const { offsetWidth: width, offsetHeight: height } = this.menu
    const x = panel.host.offsetLeft + panel.geometry.x(peak) + 12
    const left = x + width > clientWidth ? x - width - 24 : x
    const top = panel.host.offsetTop + panel.geometry.top + 8
    const [inX, inY] = [Math.min(left, clientWidth - width - 4), Math.min(top, clientHeight - height - 4)]
    this.menu.style.transform = `translate(${Math.max(4, inX)}px, ${Math.max(4, inY)}px)`
  }

  #key(event) {
    event.stopPropagation()
    if (event.key === 'Escape') this.on.onRedshift(this.before)
    if (event.key === 'Escape' || event.key === 'Enter') this.list.blur()
  }
}

/** The lines that a feature may be, the one with the smallest change of the redshift first. */
function candidates({ lines, spectrum }, peak, { z, lineList }) {
  return lines
    .filter((line) => line.task || line.major || lineList === 'all')
    .map((line) => ({ name: line.name, z: redshiftOf(peak, line.wavelength, line.medium, spectrum) }))
    .filter((candidate) => candidate.z > -0.02 && candidate.z < HIGHEST)
    .sort((a, b) => Math.abs(a.z - z) - Math.abs(b.z - z))
}
