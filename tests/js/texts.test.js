// Texts that the page writes and reads: numbers, units, links, searches, comments.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { partsOf } from '../../reviewer/ui/static/comments/text.js'
import * as format from '../../reviewer/ui/static/common/format.js'
import { isPromptOf } from '../../reviewer/ui/static/common/panels.js'
import { whileTyping } from '../../reviewer/ui/static/find/search.js'
import { yieldSoFar } from '../../reviewer/ui/static/progress/charts.js'
import { problems, stepText, windowOf, windowsOf } from '../../reviewer/ui/static/trace/steps.js'

test('flux units are printed as astronomers print them', () => {
  for (const [unit, exponent, title] of [
    ['relative', 0, 'Flux (relative)'],
    ['relative', 6, 'Flux (relative, × 10⁶)'],
    ['unknown', 0, 'Flux (unit unknown)'],
    ['1e-17 erg s-1 cm-2 Å-1', 0, 'Fλ (10⁻¹⁷ erg s⁻¹ cm⁻² Å⁻¹)'],
    ['1e-17 erg/s/cm2/Angstrom', 0, 'Fλ (10⁻¹⁷ erg s⁻¹ cm⁻² Å⁻¹)'],
    ['erg / (Angstrom s cm2)', -16, 'Fλ (10⁻¹⁶ erg s⁻¹ cm⁻² Å⁻¹)'],
    ['10**(-17) ergs/(cm**2*s*A)', 0, 'Fλ (10⁻¹⁷ erg s⁻¹ cm⁻² Å⁻¹)'],
    ['mJy', 0, 'Fν (mJy)'],
    ['counts', 0, 'Flux (counts)'],
  ])
    assert.equal(format.fluxTitle(unit, exponent).text, title)
})

test('a measurement has no window, and none that is wrong', () => {
  const zoom = { id: 's2', kind: 'zoom', tool: 'measure', arguments: { feature: 'Hα', wavelength_range: [1, 2] } }
  const named = { ...zoom, arguments: { element: 'Fe I', wavelength: 5270.4 }, ok: false }
  const steps = [{ id: 's1', kind: 'think', text: 'How strong?' }, zoom]
  assert.deepEqual([windowOf(zoom), windowsOf(steps)], [null, []])
  assert.deepEqual([zoom, named].map(stepText), ['measured · Hα', 'measured · Fe I 5270.4'])
  const sky = { ...zoom, tool: 'sky_context', arguments: { label: 'luminosity' } }
  assert.deepEqual([windowOf(sky), windowsOf([sky]), stepText(sky)], [null, [], 'catalogues · luminosity'])
  const refused = problems([
    { id: 's1', kind: 'think', text: 'How strong?' },
    { ...named, frame: 'rest' },
    { id: 's3', kind: 'think', text: 'How luminous?' },
    { ...zoom, tool: 'sky_context', ok: false },
  ])
  assert.deepEqual(refused, ['the last step is not an answer'])
})

test('numbers are typeset', () => {
  for (const [name, values, text] of [
    ['number', [-1240.4], '−1\u202f240'],
    ['number', [-0.001, 2], '0.00'],
    ['number', [NaN, 2], '–'],
    ['angstrom', [6562.8], '6562.80\u202fÅ'],
    ['windowText', [6500, 6630.25], '6500 – 6630.3\u202fÅ'],
    ['redshift', [-0.0000892], '−0.0000892'],
    ['redshift', [0.12], '0.12000'],
    ['velocity', [-17988.2], '−17\u202f988\u202fkm/s'],
    ['significant', [0.0001234], '1.23 × 10⁻⁴'],
    ['significant', [812.3], '812'],
  ])
    assert.equal(format[name](...values), text)
})

test('typed numbers are parsed or refused', () => {
  for (const [text, value] of [
    ['−1 240.5', -1240.5],
    ['+0.1', 0.1],
    ['.5', 0.5],
    ['1e-3', 0.001],
    ['12 km', NaN],
    ['', NaN],
  ])
    assert.equal(format.parseNumber(text), value, text)
})

test('the last word of a search counts as a beginning while it is typed', () => {
  for (const [typed, searched] of Object.entries({
    absor: 'absor*',
    'absor ': 'absor ',
    'sky li': 'sky li',
    ab发射: 'ab发射',
    发射abc: '发射abc*',
    发射ab: '发射ab',
    'z=0.1': 'z=0.1',
    'absor*': 'absor*',
    '"sky lin': '"sky lin"*',
    '"sky line"': '"sky line"',
    'sky -noi': 'sky -noi',
    'e\u0301te': '\u00e9te*',
    'e\u0301t': '\u00e9t',
    foo_ba: 'foo_ba',
    '': '',
    '-': '-',
  }))
    assert.equal(whileTyping(typed), searched)
})

test('the parts of a link are read in any order and written in one', async () => {
  globalThis.location = /** @type {any} */ (new URL('http://127.0.0.1/'))
  globalThis.addEventListener = () => {}
  const { readLink, linkTo } = await import('../../reviewer/ui/static/common/links.js')
  const unreadable = `step=${'x'.repeat(201)}`
  for (const [hash, expected, ignored] of [
    ['#range=1.04-2&step=s1&item=3&version=2&beside=9', '#item=3&version=2&step=s1&range=1-2&beside=9', []],
    ['#item=3&range=20-10', '#item=3', ['range=20-10']],
    ['#item=7&item=8', '#item=8', []],
    ['#item=3&version=1.5', '#item=3', ['version=1.5']],
    ['#item=5&step=%E0%A4%A', '#item=5&step=%25E0%25A4%25A', []],
    [linkTo({ item: 5, step: 's 1&version=9#' }), '#item=5&step=s%201%26version%3D9%23', []],
    [`#item=5&${unreadable}`, '#item=5', [unreadable]],
  ]) {
    const link = readLink(hash)
    assert.deepEqual([linkTo(link), link.ignored], [expected, ignored], hash)
  }
  for (const hash of ['#item=0', '#item=1e3', '#batch=x', '#view=12', '']) assert.equal(readLink(hash), null, hash)
})

test('mentions and addresses are found in a comment, and everything else is text', () => {
  const comment =
    '<img src=x onerror=alert(1)> javascript:alert(1) x@AB.org @AB, 请@AB看 https://example.org/H_(α). ' +
    '见https://example.org/c看 (see https://example.org/a?b=c&d=%3Cb%3E). "https://example.org/q" http://'
  const parts = partsOf(comment, ['AB'])
  assert.equal(parts.map(({ text }) => text).join(''), comment)
  const of = (kind) => parts.filter((part) => part.kind === kind).map(({ text }) => text)
  assert.deepEqual(of('mention'), ['@AB', '@AB'])
  assert.deepEqual(
    of('link'),
    ['H_(α)', 'c', 'a?b=c&d=%3Cb%3E', 'q'].map((path) => `https://example.org/${path}`),
  )
})

test('the yield so far counts everything decided until then', () => {
  assert.deepEqual(yieldSoFar([0, 1, 3], [1, 0, 0]), [0, 0.5, 0.8])
})

test('a prompt without the reasons of the guide is still that of the task', () => {
  const task = { question: 'Is it a **CV**?', guide: '- **Lines:**\n  - **(Primary):** Hα.\n    Why: Hot gas.' }
  for (const [prompt, same] of /** @type {const} */ ([
    ['Is it a **CV**?\n\n- **Lines:**\n  - **(Primary):** Hα.\n    Why: Hot gas.', true],
    ['Is it a **CV**?\n\n- **Lines:**\n  - **(Primary):** Hα.', true],
    ['Is it a **CV**?\n\n- **Lines:**\n  - **(Primary):** Hα.\n    - Hβ.', false],
    ['Is it a **CV**? As in training.', false],
  ]))
    assert.equal(isPromptOf(prompt, task), same)
})
