// Which of the types that definitions make are served beside the built-in ones.
import test from 'ava';
import { TypeCatalog } from '../../../../api/catalog/catalog.ts';
import { createRegistry, type Registry } from '../../../../api/resources/registry.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

function withFoosOf(group: string, ...runtimeConfig: string[]): Registry {
  return catalogWith('foos', group, ...runtimeConfig).registry;
}

function catalogWith(plural: string, group: string, ...runtimeConfig: string[]): TypeCatalog {
  const catalog = new TypeCatalog(createRegistry(DIALECTS.kubernetes, { runtimeConfig }));
  const schema = { openAPIV3Schema: { type: 'object' } };
  const definition = {
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, uid: 'a', generation: 1 },
    spec: {
      group,
      names: { plural, singular: 'foo', kind: 'Foo', listKind: 'FooList' },
      scope: 'Namespaced',
      versions: [
        { name: 'v1', served: true, storage: true, schema },
        { name: 'v7', served: true, storage: false, schema },
      ],
    },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  };
  catalog.put(definition, 1);
  return catalog;
}

test('a definition in a built-in group adds nothing to it, neither to a version that there is nor as one more', (t) => {
  const group = 'networking.k8s.io';
  const registry = withFoosOf(group);
  for (const version of ['v1', 'v7']) {
    t.is(registry.byPath(group, version, 'foos'), undefined);
    t.is(registry.byKind(group, version, 'Foo'), undefined);
  }
  t.deepEqual(registry.servedVersions(group), ['v1', 'v1beta1']);
  t.false(registry.all().some(({ plural }) => plural === 'foos'));
  t.truthy(registry.byPath(group, 'v1', 'ingresses'));
});

test('a definition is served in a built-in group that is switched off, and in one of its own behind all others', (t) => {
  const off = withFoosOf('node.k8s.io', 'node.k8s.io/v1=false', 'node.k8s.io/v1beta1=false');
  t.deepEqual(off.servedVersions('node.k8s.io'), ['v7', 'v1']);
  const own = withFoosOf('example.com');
  t.is(own.byPath('example.com', 'v1', 'foos')?.kind, 'Foo');
  t.is(own.groups().at(-1)?.name, 'example.com');
});

test('a definition called like a built-in type makes no type, and nothing of what is stored as that type is its own', (t) => {
  const catalog = catalogWith('networkpolicies', 'networking.k8s.io');
  t.false(catalog.registry.known().some(({ custom }) => custom !== undefined));
  t.is(catalog.editions().size, 0);
  t.is(catalog.storageKeyOf('networkpolicies.networking.k8s.io'), undefined);
  t.is(catalog.remove('networkpolicies.networking.k8s.io'), undefined);
  t.is(catalog.storageKeyOf('foos.networking.k8s.io'), 'networking.k8s.io/foos');
});
