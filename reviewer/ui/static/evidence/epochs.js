// The other spectra of the object shown: a button with their dates, links to them, and curves over the data.

import { h } from '../common/dom.js'
import { t, tn } from '../common/language.js'
import { sheetOf } from '../common/popover.js'
import { sparkline } from '../spectrum/sparklines.js'

/**
 * @param {Epochs} epochs
 * @param {{draws: (kind: string) => boolean, overlay: (kind: string) => void}} aids
 */
export function epochsButton({ number, date, others }, aids) {
  if (!others.length) return null
  const title = t('Spectra of this object, by position and name')
  const button = h('button.guide.others', { title }, tn('{n} epoch', '{n} epochs', number), ' ▾')
  const sheet = sheetOf(button, 'div.others-sheet.epochs', title, () => {
    const onClick = () => {
      sheet.hidePopover()
      aids.overlay('epochs')
    }
    const what = aids.draws('epoch') ? t('Remove from the plot') : t('Draw over the data')
    const this_ = h('li', h('strong', t('this one')), date || t('no date'))
    return [h('p', title), h('button.so-small', { onClick }, what), h('ul', this_, others.map(entry))]
  })
  return h('span.others', button, sheet)
}

/** @param {Epoch} epoch */
const entry = ({ item, name, survey, date, spectrum }) =>
  h('li', h('a', { href: `#item=${item}`, title: name }, `#${item}`), date || t('no date'), survey, sparkline(spectrum))

/** What is drawn of other epochs. @param {Epochs} epochs @returns {import('../spectrum/overlays.js').Overlay[]} */
export const curvesOf = ({ others }) =>
  others.flatMap(({ item, name, date, curve }) => {
    if (!curve) return []
    const flux = curve.flux.map((value) => value ?? NaN)
    return { kind: 'epoch', name: date || name, title: `#${item} ${name}`, wavelength: curve.wavelength, flux }
  })
