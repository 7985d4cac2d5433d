// Whether an answer that was begun by a custom type's definition can go on by it.
import test from 'ava';
import { AnswerForms } from '../../../../actors/ingress/reads/answer-forms.ts';
import type { Representations } from '../../../../actors/ingress/reads/representation.ts';
import { TypeCatalog } from '../../../../api/catalog/catalog.ts';
import { createRegistry } from '../../../../api/resources/registry.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const GROUP = 'example.com';

function definition(uid: string, generation: number) {
  return {
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${GROUP}`, uid, generation },
    spec: {
      group: GROUP,
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  };
}

/** A thread that knows a definition, and what was looked up of it. */
function world() {
  const catalog = new TypeCatalog(createRegistry(DIALECTS.orch));
  catalog.put(definition('a', 1), 1);
  const type = catalog.registry.byPath(GROUP, 'v1', 'widgets')!;
  const forms = new AnswerForms(catalog.registry, undefined as unknown as Representations);
  return { catalog, isOutdated: () => forms.isOutdated(type), forms };
}

test('a type stays as it was looked up until its definition changes', (t) => {
  const { catalog, isOutdated } = world();
  t.false(isOutdated());
  catalog.put(definition('a', 1), 2);
  t.false(isOutdated());
  catalog.put(definition('a', 2), 3);
  t.true(isOutdated());
});

test('a type whose definition is gone, or was made anew under its name, is outdated', (t) => {
  const { catalog, isOutdated } = world();
  catalog.remove(`widgets.${GROUP}`);
  t.true(isOutdated());
  catalog.put(definition('b', 1), 2);
  t.true(isOutdated());
});

test('built-in types never are', (t) => {
  const { catalog, forms } = world();
  t.false(forms.isOutdated(catalog.registry.byPath('', 'v1', 'configmaps')!));
});
