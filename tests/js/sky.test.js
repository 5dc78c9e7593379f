// The plots of the sky pane, and the fluxes of catalogues on the spectrum.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { fluxOverlay } from '../../reviewer/ui/static/evidence/aids.js'
import * as plots from '../../reviewer/ui/static/evidence/sky_plots.js'
import { placedOverlays } from '../../reviewer/ui/static/spectrum/overlays.js'
import { near, normal, pixels, random } from './support.js'

const colour = (name) => name
const point = {
  ...{ bp_rp: 0.8, bp_rp_error: 0.02, absolute_magnitude: 4.6, error: 0.1, limit: 4.4 },
  ...{ reddening: [0.134, 0.274], reason: '' },
}
const locus = (name, kind, bp_rp, absolute_magnitude, name_at = null) => {
  return { name, kind, bp_rp, absolute_magnitude, name_at, citation: 'A & B' }
}
const loci = [
  locus('main sequence', 'line', [-0.3, 0.8, 2.5, 5], [-2, 4.5, 10, 16]),
  locus('white dwarfs', 'line', [-0.5, 0, 1.5], [8, 12, 16]),
  locus('cataclysmic variables', 'region', [0, 1, 1.4, 0.2], [4, 4, 10, 12]),
  locus('giants', 'region', [2, 5, 5, 2], [-4, -4, -1, -1]),
]
const objectOf = (changed) => {
  const { traces, layout } = plots.plane({ loci, point: { ...point, ...changed } }, colour, 340)
  const arrows = layout.annotations.filter(({ arrowcolor }) => arrowcolor === 'look')
  return { object: traces.slice(loci.length), arrows, layout }
}

test('an object with colour and luminosity is a star with both errors; bright is up', () => {
  const { object, arrows, layout } = objectOf({})
  assert.deepEqual([object[0].x, object[0].y, arrows], [[0.8], [4.6], []])
  assert.deepEqual([object[0].error_x.array, object[0].error_y.array], [[0.02], [0.1]])
  const [bottom, top] = layout.yaxis.range
  assert.ok(bottom > 16 && top < -4)
  assert.equal(plots.positionText(point), 'BP−RP 0.80 ± 0.02, M_G 4.60 ± 0.10')
})

test('a limit is an arrow to brighter magnitudes; an unknown colour or magnitude is a line', () => {
  const limit = { absolute_magnitude: null, error: 0 }
  const { object, arrows } = objectOf(limit)
  assert.deepEqual([object[0].y, object[0].error_y.visible], [[4.4], false])
  assert.ok(arrows.length === 1 && arrows[0].ay === 4.4 && arrows[0].y < 4.4)
  assert.equal(plots.positionText({ ...point, ...limit }), 'BP−RP 0.80 ± 0.02, M_G 4.4 or brighter')
  const level = objectOf({ bp_rp: null })
  assert.ok(level.object[0].x[0] < -0.5 && level.object[0].x[1] > 5)
  assert.deepEqual(level.object[0].y, [4.6, 4.6])
  assert.deepEqual(objectOf({ ...limit, limit: null }).object[0].x, [0.8, 0.8])
  assert.deepEqual(objectOf({ ...limit, limit: null, bp_rp: null }).object, [])
})

test('the arrow of dust has the direction and size that it states', () => {
  const { layout } = objectOf({})
  const [arrow] = layout.annotations.filter(({ arrowcolor }) => arrowcolor === 'wrong')
  near([arrow.x - arrow.ax, arrow.y - arrow.ay], [5 * 0.134, 5 * 0.274])
  assert.ok(layout.annotations.some(({ text }) => text === 'dust, E(B−V) = 0.5'))
})

const source = (changed) => ({
  ...{ east: 0, north: 0, motion_east: 0, motion_north: 0, magnitude: 15, share: 0, matched: false, ...changed },
})

test('the finder has east on the left, larger symbols for brighter stars and arrows of twenty years', () => {
  const stars = [
    source({ matched: true, magnitude: 12, motion_east: 0.3, motion_north: -0.4, share: 0.8 }),
    source({ east: 2, north: 1, magnitude: 16, share: 0.2 }),
    source({ east: -4, magnitude: null, motion_east: 0.001 }),
  ]
  const { traces, layout } = plots.chart({ stars, fibre: 3, radius: 10, blend: 0.25, text: '' }, colour, 340)
  assert.ok(layout.xaxis.range[0] > 0 && layout.xaxis.range[1] < 0 && layout.yaxis.range[1] > 0)
  assert.equal(layout.width - 54, layout.height - 48, 'a square field')
  const arrows = layout.annotations.filter(({ showarrow }) => showarrow)
  assert.deepEqual(
    arrows.map(({ x, y }) => [x, y]),
    [[6, -8]],
  )
  assert.deepEqual([layout.shapes[0].x0, layout.shapes[0].x1], [-1.5, 1.5])
  assert.ok(layout.annotations.some(({ text }) => text === '20 %'))
  assert.deepEqual([traces[1].x, traces[1].marker.symbol], [[0], 'star'])
  const [second, third] = traces[0].marker.size
  assert.ok(second > third && third === plots.symbolSize(25))
  assert.equal(plots.sourceFacts(stars[0]).join(), 'this object,G 12.0,0.0″,500 mas/yr,80 % of the light')
  assert.equal(
    plots.chart({ stars: [], fibre: null, radius: 10, blend: null, text: '' }, colour, 340).layout.shapes.length,
    0,
  )
})

test('a curve folded at its period shows the same curve twice, before the start of the cycle too', () => {
  near(plots.phases([10, 10.25, 11.5, 9.9], 1, 10), [0, 0.25, 0.5, 0.9], { abs: 1e-9 })
  const next = random(5)
  const mjd = [...pixels(200, () => 58000 + 500 * next())]
  const magnitude = mjd.map((time) => 15 + 0.3 * Math.sin((2 * Math.PI * time) / 0.0785) + 0.001 * normal(next))
  const curve = { band: 'g', mjd, magnitude, error: mjd.map(() => 0.01) }
  const folded = plots.brightness([curve], 0.0785, colour).traces[0]
  assert.equal(folded.x.length, 400)
  near(
    folded.x.slice(200),
    folded.x.slice(0, 200).map((phase) => phase + 1),
  )
  const order = [...folded.x.keys()].sort((a, b) => folded.x[a] - folded.x[b])
  const jumps = order.slice(1).map((at, i) => Math.abs(folded.y[at] - folded.y[order[i]]))
  assert.ok(jumps.toSorted((a, b) => a - b)[380] < 0.06, 'neighbours in phase are alike')
  const unfolded = plots.brightness([curve], null, colour)
  assert.deepEqual([unfolded.traces[0].x, unfolded.layout.yaxis.autorange], [mjd, 'reversed'])
})

test('catalogue fluxes stand at their observed wavelengths, in the medium and frame of the data', () => {
  const wavelength = pixels(1000, (i) => 5000 + i)
  const band = { wavelength: 5500, flux: 10, flux_error: 1, name: 'r' }
  const panel = { bands: [band, { ...band, wavelength: 12000, name: 'J' }], sed_scale: 2, sed_note: '' }
  const placed = (about, continuum = null) => {
    const spectrum = { wavelength, redshift: null, ...about }
    return placedOverlays([fluxOverlay(panel, spectrum)], spectrum, continuum, 3)[0]
  }
  const data = placed({ frame: 'observed', medium: 'vacuum' })
  near(data.wavelength, [5500, 12000])
  assert.deepEqual([[...data.flux], data.points], [[20, 20], { labels: ['r', 'J'], error: [0.1, 0.1] }])
  near(placed({ frame: 'observed', medium: 'air' }).wavelength, [5498.47, 11996.72], { rel: 1e-6 })
  near(placed({ frame: 'rest', medium: 'vacuum', redshift: 0.1 }).wavelength, [5000, 12000 / 1.1])
  near(placed({ frame: 'observed', medium: 'vacuum' }, new Float64Array(1000).fill(5)).flux, [4, NaN])
})
