/** Decides what callers may see: GroupBindings, evaluated in the order of their names, and their globs. */

export {
  type AccessDecision,
  allows,
  allowsPublishing,
  type Binding,
  compileBinding,
  compileGlob,
  publishRightsOf,
} from './binding.ts'
export { GroupBindings } from './group-bindings.ts'
