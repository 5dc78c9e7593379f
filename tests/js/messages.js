// An ESLint rule: a text that a person sees is a message, `t('...')` or `tn('...', '...', n)`, with a literal that
// Babel can extract. `eslint --fix` writes the plain cases.

import { readFileSync } from 'node:fs'

/** Words that the server stores: `word(stored)` translates them where they are shown. */
const STORED = new Set(
  [
    ...readFileSync(new URL('../../reviewer/ui/static/common/words.js', import.meta.url), 'utf-8').matchAll(
      /t\('(.*?)'\)/g,
    ),
  ].map(([, stored]) => stored),
)

/** Names and symbols that every language writes the same. */
const SAME = new Set(
  (
    'YES NO Spec CSV FITS VOTable JSON SNR ICRS km nm RA Dec Gaia SDSS LAMOST DESI TARGETID SPECOBJID Esc Enter Ctrl ' +
    'Shift Tab Alt Space Hα Hβ CaT plotly js MJD LMJD obsid Spec-o spec-o px ivar EW cz vs'
  ).split(' '),
)
const TRANSLATING = new Set(['t', 'tn', 'word'])
const SHOWN_PROPERTIES = new Set(
  (
    'title placeholder aria-label aria-description aria-roledescription aria-valuetext alt label text heading empty ' +
    'note message hint'
  ).split(' '),
)
const SHOWN_FIELDS = new Set(['textContent', 'title', 'placeholder', 'ariaLabel', 'innerText', 'label', 'alt'])
/** Calls, with the place of the first argument that is shown. */
const SHOWING = { h: 2, fill: 1, toast: 0, say: 0, notice: 0, alert: 0, openPanel: 0, confirm: 0 }
/** Where strings are names for the program. */
const FOR_PROGRAM = new Set(
  (
    'querySelector querySelectorAll closest matches getElementById add remove toggle contains replace startsWith ' +
    'endsWith includes match test split join matchMedia setProperty getPropertyValue part sheetOf ' +
    'addEventListener createElement createElementNS fetch getJSON postJSON'
  ).split(' '),
)
/** A command that a person can copy. */
const COMMAND = /^spec-o3 /
const SENTENCE = /[A-Za-z]{2,}[,.;:]? [a-z]{2,}/
const CODE = /[{}<>=#]|^[\w-]+( [\w-]*[-_][\w-]*)+$|^(M|m)?[\d\s,.-]+$/

const hasWord = (/** @type {string} */ text) =>
  (text.match(/[A-Za-z][A-Za-z-]+/g) ?? []).some((one) => !SAME.has(one.replace(/-$/, '')))

/** The text of a literal or template, with {} for expressions; null for anything else. */
function textOf(node) {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  if (node.type === 'TemplateLiteral') return node.quasis.map((one) => one.value.cooked).join('{}')
  return null
}

const calleeOf = (node) =>
  node.callee.type === 'Identifier'
    ? node.callee.name
    : node.callee.type === 'MemberExpression' && node.callee.property.type === 'Identifier'
      ? node.callee.property.name
      : ''

const keyOf = (node) => (node.key?.type === 'Identifier' && !node.computed ? node.key.name : String(node.key?.value))

/** The name of a value in a message: that of the variable, property or function. */
function nameOf(node, taken) {
  let name = ''
  if (node.type === 'Identifier') name = node.name
  else if (node.type === 'MemberExpression' && node.property.type === 'Identifier') name = node.property.name
  else if (node.type === 'CallExpression' && calleeOf(node) === 'number') name = 'n'
  else if (node.type === 'CallExpression') name = calleeOf(node)
  if (!/^[a-z]\w*$/i.test(name)) name = 'value'
  let unique = name
  for (let at = 2; taken.has(unique); at += 1) unique = `${name}${at}`
  taken.add(unique)
  return unique
}

/** @type {import('eslint').Rule.RuleModule} */
const rule = {
  meta: { type: 'problem', fixable: 'code', schema: [] },
  create(context) {
    const source = context.sourceCode
    const reported = new Set()

    /** The literals and templates of 'a ' + `b ${c}`, in order; null if something else is in it. */
    function leaves(node) {
      if (node.type === 'BinaryExpression' && node.operator === '+') {
        const [left, right] = [leaves(node.left), leaves(node.right)]
        return left && right ? [...left, ...right] : null
      }
      return textOf(node) === null ? null : [node]
    }

    function report(part) {
      let node = part
      while (node.parent.type === 'BinaryExpression' && leaves(node.parent)) node = node.parent
      if (reported.has(node)) return
      reported.add(node)
      const fix = (fixer) => {
        const pieces = leaves(node)
        if (pieces.every((one) => one.type === 'Literal')) return fixer.replaceText(node, `t(${source.getText(node)})`)
        const [taken, values] = [new Set(), []]
        const text = pieces
          .map((one) => {
            if (one.type === 'Literal') return one.value
            return one.quasis
              .map((quasi, at) => {
                if (at === one.expressions.length) return quasi.value.cooked
                const name = nameOf(one.expressions[at], taken)
                values.push([name, one.expressions[at]])
                return `${quasi.value.cooked}{${name}}`
              })
              .join('')
          })
          .join('')
        const literal = `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
        const given = values.map(([name, one]) => {
          const code = source.getText(one)
          return code === name ? name : `${name}: ${code}`
        })
        return fixer.replaceText(node, given.length ? `t(${literal}, { ${given.join(', ')} })` : `t(${literal})`)
      }
      context.report({ node, message: 'This text is shown: make it a message, t(...).', fix })
    }

    /** Whether a node is inside a call that translates. */
    function translated(node) {
      for (let at = node.parent; at; at = at.parent) {
        if (at.type === 'CallExpression' && TRANSLATING.has(calleeOf(at))) return true
        if (/Function|Class|Program/.test(at.type)) return false
      }
      return false
    }

    /** Report the texts that an expression may be. */
    function shown(node) {
      if (!node) return
      if (node.type === 'ConditionalExpression') [node.consequent, node.alternate].forEach(shown)
      else if (node.type === 'LogicalExpression') [node.left, node.right].forEach(shown)
      else if (node.type === 'ArrayExpression') node.elements.forEach(shown)
      else if (node.type === 'BinaryExpression' && node.operator === '+') [node.left, node.right].forEach(shown)
      else if (node.type === 'ArrowFunctionExpression' && node.body.type !== 'BlockStatement') shown(node.body)
      else if (node.type === 'CallExpression' && calleeOf(node) === 'map') node.arguments.forEach(shown)
      else {
        const text = textOf(node)
        if (text !== null && hasWord(text) && !COMMAND.test(text) && !translated(node)) report(node)
      }
    }

    /** Whether a sentence is for the program: a selector, a class, an error that nobody sees. */
    function forProgram(node) {
      const { parent } = node
      if (/^(Import|Export)/.test(parent.type)) return true
      if (parent.type === 'Property' && (parent.key === node || keyOf(parent) === 'textposition')) return true
      for (let at = node; at; at = at.parent) {
        const above = at.parent
        if (!above) return false
        if (above.type === 'CallExpression') {
          const name = calleeOf(above)
          if (TRANSLATING.has(name) || (FOR_PROGRAM.has(name) && above.arguments.includes(at))) return true
          if (name === 'h' && above.arguments[0] === at) return true
          if (/^console\./.test(source.getText(above.callee))) return true
        }
        if (
          above.type === 'AssignmentExpression' &&
          /className|cssText|style|innerHTML/.test(source.getText(above.left))
        )
          return true
        // What nobody is meant to see ends without a full stop.
        if (
          above.type === 'NewExpression' &&
          at.parent.parent.type === 'ThrowStatement' &&
          !/\.$/.test(textOf(at) ?? '')
        )
          return true
        if (above.type === 'Property' && /^(class|className|d|style|href|rel|font|family)$/.test(keyOf(above)))
          return true
        if (above.type === 'SwitchCase' && above.test === at) return true
        if (above.type === 'MemberExpression' && above.object === at && above.property.name === 'includes') return true
        if (above.type === 'BinaryExpression' && /^[!=]==$/.test(above.operator)) return true
        if (/Function|Statement/.test(above.type)) return false
      }
      return false
    }

    const sentence = (node) => {
      const text = textOf(node)
      if (
        text === null ||
        STORED.has(text) ||
        COMMAND.test(text) ||
        !SENTENCE.test(text) ||
        CODE.test(text.replaceAll('{}', ''))
      )
        return
      if (!forProgram(node)) report(node)
    }

    return {
      CallExpression(node) {
        const name = calleeOf(node)
        const first = SHOWING[name]
        if (first !== undefined) node.arguments.slice(first).forEach(shown)
        if (name === 'setAttribute' && SHOWN_PROPERTIES.has(node.arguments[0]?.value)) shown(node.arguments[1])
        if (node.callee.type === 'Identifier' && (name === 't' || name === 'tn')) {
          for (const one of node.arguments.slice(0, name === 'tn' ? 2 : 1)) {
            const parts = leaves(one) ?? []
            const bad = parts.some((part) => part.type === 'TemplateLiteral' && part.expressions.length > 0)
            if (bad || (one.type === 'BinaryExpression' && !parts.length))
              context.report({ node: one, message: 'Babel cannot extract this: write one literal.' })
          }
        }
      },
      Property(node) {
        if (node.parent.type === 'ObjectExpression' && SHOWN_PROPERTIES.has(keyOf(node))) shown(node.value)
      },
      AssignmentExpression(node) {
        if (node.left.type === 'MemberExpression' && SHOWN_FIELDS.has(node.left.property?.name)) shown(node.right)
      },
      Literal: sentence,
      TemplateLiteral: sentence,
    }
  },
}

const catalogue = readFileSync(new URL('../../agent/locale/zh/page.po', import.meta.url), 'utf-8')
/** Every message of the page. */
const MESSAGES = new Set([...catalogue.matchAll(/^msgid(?:_plural)? "(.*)"$/gm)].map(([, text]) => text))
const MAKES_TEXT = new Set(['t', 'tn', 'word', 'sentences', 'withCommas'])
const COMPARES = new Set(['includes', 'startsWith', 'endsWith', 'indexOf', 'match', 'test', 'search'])

/** @type {import('eslint').Rule.RuleModule} A text that people see is translated, so nothing is decided by it. */
const noLogicOnTexts = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const own = new Set([...context.sourceCode.text.matchAll(/\bt\('((?:[^'\\]|\\.)*)'/g)].map(([, text]) => text))

    function isText(node) {
      if (node?.type === 'CallExpression') return node.callee.type === 'Identifier' && MAKES_TEXT.has(node.callee.name)
      if (node?.type === 'MemberExpression') return SHOWN_FIELDS.has(node.property.name) && !node.computed
      const text = node?.type === 'Literal' || node?.type === 'TemplateLiteral' ? textOf(node) : null
      // One word that is a message elsewhere can be a code here.
      return Boolean(text) && !STORED.has(text) && (own.has(text) || (text.includes(' ') && MESSAGES.has(text)))
    }

    const check = (...operands) => {
      const node = operands.find(isText)
      if (node) context.report({ node, message: 'People see this text, translated: decide by a code.' })
    }

    return {
      BinaryExpression({ operator, left, right }) {
        if (/^[!=]==?$/.test(operator)) check(left, right)
      },
      SwitchStatement({ discriminant, cases }) {
        check(discriminant, ...cases.map((one) => one.test))
      },
      CallExpression({ callee, arguments: given }) {
        if (callee.type === 'MemberExpression' && COMPARES.has(callee.property.name)) check(callee.object, ...given)
      },
    }
  },
}

export default { rules: { 'texts-are-messages': rule, 'no-logic-on-texts': noLogicOnTexts } }
