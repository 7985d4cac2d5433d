// Goal: every scheduling workload is made of objects that the API knows, in both dialects. Method: all files, against the schema.
import test from 'ava';
import { decode } from '../../../api/codec/decode.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { objectRequest, podRequest, readCases } from '../../../bench/scheduling-case.ts';
import { DIALECTS } from '../../../config/dialect.ts';

for (const dialect of Object.values(DIALECTS)) {
  for (const each of readCases('all')) {
    test(`${each.name} is made of objects of the dialect ${dialect.name}`, (t) => {
      const pods = [...each.before, each.measured].map((group) => podRequest(group, 'p-{seq}', 1200, dialect, true));
      const objects = [...each.objects, ...each.churn].map((group) => objectRequest(group, dialect));
      for (const { body } of [...pods, ...objects]) {
        const object = JSON.parse(body!.replaceAll('{seq}', '1')) as {
          readonly apiVersion: string;
          readonly kind: string;
        };
        const [version, group = ''] = object.apiVersion.split('/').reverse();
        const type = schemaOf(dialect).kind(group, version!, object.kind);
        t.not(type, undefined, object.kind);
        t.deepEqual(decode(object, type!).unknownFields, []);
      }
      t.notRegex(JSON.stringify([...pods, ...objects]), /@(?:label|group|brand)/);
    });
  }
}

test('the case that others are compared with comes first, and one that there is not is refused', (t) => {
  t.is(readCases('all')[0]?.name, 'plain');
  t.deepEqual(
    readCases('mixed,volumes').map(({ name }) => name),
    ['mixed', 'volumes'],
  );
  t.throws(() => readCases('none'), { message: /--case is all, or of plain, mixed/ });
});
