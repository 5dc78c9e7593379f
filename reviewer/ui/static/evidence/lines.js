// The table of the lines of a class: centroid, velocity, FWHM and equivalent width, at the file's redshift and at zero.

import { h } from '../common/dom.js'
import { copyable, mediumText, plusMinus, redshift } from '../common/format.js'
import { t } from '../common/language.js'
import { restInData } from '../spectrum/frames.js'

const REACH = 0.009 // of the wavelength (2700 km/s), shown on either side of a line

const COLUMNS = [
  [t('centroid'), 'Å', t('Centre of the fitted Gaussian, at rest for the redshift of the row')],
  [t('velocity'), 'km/s', t('Velocity of the centroid against the redshift of the row')],
  ['FWHM', 'km/s', t("Full width at half maximum as seen, the spectrograph's own width included")],
  ['EW', 'Å', t('Equivalent width ∫ (1 − F/C) dλ at rest for the redshift of the row, positive in absorption')],
]

/** @param {import('./aids.js').Aids} aids */
export async function draw(aids) {
  const table = await aids.lines()
  return { element: element(table, aids) }
}

function element(table, aids) {
  const { rows, velocity, z } = table
  return h(
    'div.lines',
    h('p.summary', circumstances(table)),
    velocity && h(`p.summary${velocity.agree ? '' : '.look'}`, velocity.text),
    rows.length
      ? h(
          'table',
          { 'aria-label': t('Lines of the class') },
          h(
            'thead',
            h(
              'tr',
              h('th', { scope: 'col' }, t('line')),
              COLUMNS.map(([name, unit, title]) =>
                h('th', { scope: 'col', title, class: 'number' }, name, h('span.unit', unit)),
              ),
            ),
          ),
          rows.map((row) => lineRows(row, z, aids)),
        )
      : h('p.muted', t('No line of this class lies within the spectrum.')),
    about(),
  )
}

/** @param {any} table */
function circumstances({ z, z_known: known, medium, medium_assumed: assumed }) {
  const where = known ? t('z = {z} from the file', { z: redshift(z) }) : t('z unknown, 0 taken')
  const axis = t('wavelengths in {medium}', { medium: mediumText({ medium, meta: { medium_assumed: assumed } }) })
  return `${where} · ${axis}`
}

/** One or two rows: at the file's redshift, and at zero if that is another one. */
function lineRows(row, z, aids) {
  const both = z !== null && z !== 0 && aids.subject.spectrum.frame !== 'rest'
  const kinds = both
    ? [
        [row.at_z, z, ''],
        [row.at_zero, 0, 'z = 0'],
      ]
    : [[row.at_zero, 0, '']]
  return h(
    'tbody',
    { onclick: (event) => goTo(event, row, aids), onkeydown: (event) => copyRow(event, aids) },
    kinds.map(([measured, at, label], k) =>
      h(
        `tr${k ? '.zero' : ''}${measured.certain ? '' : '.uncertain'}`,
        { 'data-z': String(at), title: measured.certain ? null : measured.reason },
        h(
          'th',
          { scope: 'row' },
          label ||
            h(
              `button.line${row.of_task ? '.own' : ''}`,
              {
                'aria-keyshortcuts': 'Control+C',
                title: t('Show {name}, {wavelength} Å at rest, in the lower plot', {
                  name: row.name,
                  wavelength: row.rest.toFixed(2),
                }),
              },
              row.name,
            ),
          !k && row.sky && h('span.sky', { title: row.sky }, t('sky')),
        ),
        cells(measured),
      ),
    ),
  )
}

/** @param {any} measured */
function cells({ centroid, velocity, fwhm, ew, reason }) {
  const value = (measured, unit, options) =>
    measured
      ? h('td.number', { title: t('copy'), 'data-copy': copyable(measured, unit) }, parts(measured, options))
      : h('td.number', { title: reason }, '–')
  if (!centroid && !velocity && !fwhm)
    return [h('td.reason', { colSpan: ew ? 3 : 4 }, reason || t('not measured')), ew && value(ew, 'Å')]
  const row = [value(centroid, 'Å', { group: false }), value(velocity, 'km/s'), value(fwhm, 'km/s'), value(ew, 'Å')]
  return row.concat(
    reason
      ? [h('td.doubt', { title: reason }, h('span', { 'aria-label': t('not certain: {reason}', { reason }) }, '?'))]
      : [],
  )
}

/** A value with its error on a second line. */
function parts(measured, options) {
  const [value, error] = plusMinus({ ...measured, unit: '' }, options).split(' ± ')
  return [value, error && h('span.error', `± ${error}`)]
}

/** Ctrl C on the button of a line copies the numbers of its row. */
function copyRow(event, aids) {
  if (event.key !== 'c' || !(event.ctrlKey || event.metaKey)) return
  const numbers = event.target.closest('tr').querySelectorAll('[data-copy]')
  aids.copy([event.target.textContent, ...Array.from(numbers, (cell) => cell.dataset.copy)].join('\t'))
}

function goTo(event, row, aids) {
  const { copy } = event.target.closest('[data-copy]')?.dataset ?? {}
  if (copy) return aids.copy(copy)
  const { spectrum } = aids.subject
  const z = Number(event.target.closest('tr')?.dataset.z ?? 0)
  const at = restInData(row.rest, spectrum.medium, spectrum, z)
  aids.view().goTo([at * (1 - REACH), at * (1 + REACH)])
}

const about = () =>
  h(
    'details.about',
    h('summary', t('How these are measured')),
    h(
      'p',
      t(
        'A straight continuum through side bands, one Gaussian, errors from the inverse variances. Windows and side ' +
          'bands are those of the class guide; a line without its own takes those of the nearest line of the same ' +
          'ion. Equivalent widths are at rest, positive in absorption. “sky”: the line lies on a sky line, a ' +
          'telluric band or an arm join. The mean velocity leaves such lines out.',
      ),
    ),
  )
