// Writes the types of the API from the document that the service serves: the command line is checked against them.
// Part of `npm ci`, where the packages of development are.
import { writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { openApiDocument } from '../src/api/openapi.ts';

type Document = Extract<Parameters<typeof openapiTS>[0], { openapi: string }>;

/** The types, as src/generated has them. */
export const apiTypes = async (): Promise<string> =>
  astToString(await openapiTS(openApiDocument('https://holdfast.example.com') as Document));

export const apiTypesFile = new URL('../src/generated/v1.d.ts', import.meta.url);

/** Writes the types to their file. */
export const writeApiTypes = async (): Promise<void> => writeFileSync(apiTypesFile, await apiTypes());
