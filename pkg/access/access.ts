// What a caller's groups let them see: the expression language of GroupBindings, globs over names, and the two put together.
export {
  allows,
  type Binding,
  Bindings,
  compileBinding,
  type Decision,
  type Outcome,
} from './bindings.ts'
export { compileExpression, type Expression } from './expression.ts'
export { ExpressionError, type ExpressionErrorCode, type Position } from './expression-error.ts'
export { compileGlob, GlobError } from './glob.ts'
