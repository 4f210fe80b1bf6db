// What a caller may see: GroupBindings, evaluated in the order of their names, and the globs in them.
export {
  allows,
  type Binding,
  Bindings,
  compileBinding,
  type Decision,
  type Outcome,
} from './bindings.ts'
export { compileGlob, GlobError } from './glob.ts'
