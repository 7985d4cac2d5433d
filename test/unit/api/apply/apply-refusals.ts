// Applies that are refused, one a row: with which code, and what the answer names.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { CONFIG_MAP, containers, DEPLOYMENT, data, image, POD, type Step } from './apply-steps.ts';

export interface Refusal {
  readonly of: string;
  readonly kind: string;
  readonly steps: readonly Step[];
  /** The last apply. */
  readonly given: JsonObject;
  readonly by?: string;
  readonly code: number;
  /** Fields of the conflict, or texts of the message. */
  readonly names?: readonly string[];
  readonly message?: string;
}

export const REFUSALS: readonly Refusal[] = [
  {
    of: 'a change of a field that another applier owns',
    kind: CONFIG_MAP,
    steps: [['apply', 'a', data({ x: '1' })]],
    given: data({ x: '2' }),
    code: 409,
    names: ['.data.x'],
    message: 'Apply failed with 1 conflict: conflict with "a": .data.x',
  },
  {
    of: 'a change of a field that an updater owns, naming its version',
    kind: CONFIG_MAP,
    steps: [['create', 'u', data({ x: '1' })]],
    given: data({ x: '2' }),
    code: 409,
    names: ['.data.x'],
    message: 'Apply failed with 1 conflict: conflict with "u" using v1: .data.x',
  },
  {
    of: 'changes of fields of several managers, listing each',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'b', data({ y: '1', z: '1' })],
      ['apply', 'a', data({ x: '1', z: '1' })],
    ],
    given: data({ x: '2', y: '2', z: '2' }),
    code: 409,
    names: ['.data.x', '.data.z', '.data.y', '.data.z'],
  },
  {
    of: 'a change of a shared field by one of its owners',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      ['apply', 'b', data({ x: '1' })],
    ],
    by: 'b',
    given: data({ x: '2' }),
    code: 409,
    names: ['.data.x'],
  },
  {
    of: 'a change inside an element of another applier',
    kind: POD,
    steps: [['apply', 'a', containers(image('x', '1'))]],
    given: containers(image('x', '2')),
    code: 409,
    names: ['.spec.containers[name="x"].image'],
    message: 'conflict with "a": .spec.containers[name="x"].image',
  },
  {
    of: 'turning to zero what another applier owns',
    kind: POD,
    steps: [['apply', 'a', { spec: { hostNetwork: true, containers: [{ name: 'x' }] } }]],
    given: { spec: { hostNetwork: false, containers: [{ name: 'x' }] } },
    code: 409,
    names: ['.spec.hostNetwork'],
  },
  {
    of: 'a change of a list that is owned as a whole',
    kind: POD,
    steps: [['apply', 'a', containers({ name: 'x', args: ['1'] })]],
    given: containers({ name: 'x', args: ['1', '2'] }),
    code: 409,
    names: ['.spec.containers[name="x"].args'],
  },
  {
    of: 'a change of what nobody tracked',
    kind: CONFIG_MAP,
    steps: [['untracked', data({ x: '1' })]],
    given: data({ x: '2' }),
    code: 409,
    names: ['.data.x'],
    message: 'conflict with "before-first-apply" using v1: .data.x',
  },
  {
    of: 'managedFields',
    kind: CONFIG_MAP,
    steps: [],
    given: { metadata: { managedFields: [] } },
    code: 400,
    message: 'metadata.managedFields must be nil',
  },
  {
    of: 'a member that the type does not have',
    kind: DEPLOYMENT,
    steps: [],
    given: { spec: { replica: 1 } },
    code: 400,
    message: 'failed to create typed patch object: .spec.replica: field not declared in schema',
  },
  {
    of: 'several members that the type does not have',
    kind: DEPLOYMENT,
    steps: [],
    given: { spec: { replica: 1, pause: true } },
    code: 400,
    message:
      'object: errors:\n  .spec.replica: field not declared in schema\n  .spec.pause: field not declared in schema',
  },
  {
    of: 'a member that elements of a list that is applied as a whole do not have',
    kind: POD,
    steps: [],
    given: { spec: { tolerations: [{ key: 'a' }, { kye: 'b' }] } },
    code: 400,
    message: 'failed to create typed patch object: .spec.tolerations[1].kye: field not declared in schema',
  },
  {
    of: 'a member that an object that is applied as a whole does not have',
    kind: DEPLOYMENT,
    steps: [],
    given: { spec: { selector: { matchLabel: { app: 'web' } } } },
    code: 400,
    message: 'failed to create typed patch object: .spec.selector.matchLabel: field not declared in schema',
  },
  {
    of: 'a text where an object belongs',
    kind: DEPLOYMENT,
    steps: [],
    given: { spec: 'x' },
    code: 400,
    message: '.spec: expected map, got &{x}',
  },
  {
    of: 'an object where a list belongs',
    kind: POD,
    steps: [],
    given: { spec: { containers: {} } },
    code: 400,
    message: '.spec.containers: expected list, got &{map[]}',
  },
  {
    of: 'an object where a list that is applied as a whole belongs',
    kind: POD,
    steps: [],
    given: { spec: { tolerations: {} } },
    code: 400,
    message: '.spec.tolerations: expected list, got &{map[]}',
  },
  {
    of: 'an element without its key',
    kind: POD,
    steps: [],
    given: containers({ image: 'x' }),
    code: 400,
    message: '.spec.containers: element 0: associative list with keys has an element that omits key field "name"',
  },
  {
    of: 'an element without one of its keys',
    kind: POD,
    steps: [],
    given: { spec: { topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1 }] } },
    code: 400,
    message: 'omits key field "whenUnsatisfiable" (and doesn\'t have default value)',
  },
  {
    of: 'nothing for an element that has a key',
    kind: POD,
    steps: [],
    given: { spec: { containers: [{ name: 'x' }, null] } },
    code: 400,
    message: '.spec.containers: element 1: associative list with keys may not have a null element',
  },
  {
    of: 'a text for an element that has a key',
    kind: POD,
    steps: [],
    given: { spec: { containers: ['x'] } },
    code: 400,
    message: '.spec.containers: element 0: associative list with keys may not have non-map elements',
  },
  {
    of: 'a list for an element of a set',
    kind: CONFIG_MAP,
    steps: [],
    given: { metadata: { finalizers: [['x/a']] } },
    code: 400,
    message: '.metadata.finalizers: element 0: not supported: associative list with lists as elements',
  },
  {
    of: 'a repeated key',
    kind: POD,
    steps: [],
    given: containers(image('x', '1'), image('x', '2')),
    code: 400,
    message: '.spec.containers: duplicate entries for key [name="x"]',
  },
  {
    of: 'a repeated value of a set',
    kind: CONFIG_MAP,
    steps: [],
    given: { metadata: { finalizers: ['x/a', 'x/a'] } },
    code: 400,
    message: '.metadata.finalizers: duplicate entries for key [="x/a"]',
  },
  {
    of: 'objects in a set',
    kind: CONFIG_MAP,
    steps: [],
    given: { metadata: { finalizers: [{}] } },
    code: 400,
    message: "element 0: associative list without keys has an element that's a map type",
  },
  {
    of: 'null in a set',
    kind: CONFIG_MAP,
    steps: [],
    given: { metadata: { finalizers: [null] } },
    code: 400,
    message: "element 0: associative list without keys has an element that's an explicit null",
  },
  {
    of: 'a text where a number belongs',
    kind: DEPLOYMENT,
    steps: [],
    given: { spec: { replicas: 'many' } },
    code: 400,
  },
  {
    of: 'a version that is not the current one',
    kind: CONFIG_MAP,
    steps: [['apply', 'a', data({ x: '1' })]],
    by: 'a',
    given: { metadata: { resourceVersion: '77' }, data: { x: '2' } },
    code: 409,
  },
];
