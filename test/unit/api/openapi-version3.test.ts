import test from 'ava';
import { buildDocument } from '../../../api/openapi/document.ts';
import type { OpenApi3Document } from '../../../api/openapi/version3.ts';
import { openApi3Documents } from '../../../api/openapi/version3.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';

for (const dialect of Object.values(DIALECTS)) {
  const document = buildDocument(createRegistry(dialect).all(), schemaOf(dialect));
  const documents = openApi3Documents(document);
  const core = documents.get('api/v1')!;

  test(`${dialect.name}: every path of the 2.0 document is in exactly one 3.0 document, with the same operations`, (t) => {
    const seen = [...documents.values()].flatMap(({ paths }) => Object.keys(paths));
    t.deepEqual(seen.toSorted(), Object.keys(document.paths).toSorted());
    for (const { paths } of documents.values()) {
      for (const [path, operations] of Object.entries(paths)) {
        t.deepEqual(Object.keys(operations).toSorted(), Object.keys(document.paths[path]!).toSorted(), path);
      }
    }
  });

  test(`${dialect.name}: every reference of a 3.0 document is answered in the document itself`, (t) => {
    for (const [name, one] of documents) {
      for (const reference of referencesOf(one)) {
        t.true(reference.startsWith('#/components/schemas/'), `${name}: ${reference}`);
        t.true(
          reference.slice('#/components/schemas/'.length) in (one.components.schemas ?? {}),
          `${name}: ${reference}`,
        );
      }
    }
  });

  test(`${dialect.name}: a body becomes a request body for each media type it may come in`, (t) => {
    const { patch, post } = core.paths['/api/v1/namespaces/{namespace}/pods/{name}'] as Record<string, object>;
    t.is(post, undefined);
    const { requestBody, parameters } = patch as {
      requestBody: { content: object; required: boolean };
      parameters: readonly { in: string; schema: object }[];
    };
    t.deepEqual(Object.keys(requestBody.content).toSorted(), [
      'application/apply-patch+yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
    ]);
    t.true(requestBody.required);
    t.true(parameters.every(({ in: place }) => place !== 'body'));
    t.deepEqual(parameters.find((one) => 'name' in one && one.name === 'force')?.schema, {
      type: 'boolean',
      uniqueItems: true,
    });
  });

  test(`${dialect.name}: what stands beside a reference is kept around it`, (t) => {
    const schemas = core.components.schemas as Record<string, { properties?: Record<string, { allOf?: unknown }> }>;
    const beside = Object.values(schemas).flatMap(({ properties = {} }) =>
      Object.values(properties).filter((property) => property.allOf !== undefined),
    );
    for (const property of beside) t.false('$ref' in property);
    const bare = JSON.stringify(schemas).match(/\{"\$ref":"[^"]*",/g);
    t.is(bare, null);
  });
}

function referencesOf(document: OpenApi3Document): string[] {
  return [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference]) => reference!);
}
