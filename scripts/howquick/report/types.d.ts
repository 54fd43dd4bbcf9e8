// What the report's scripts hand to each other, for the compiler that checks them. Data come from study.py, head.py and load.py.

/** What environment/report/ bundles, with the types of its packages. */
declare const libraries: typeof import('../../../environment/report/libraries.js');
type PlotOptions = import('@observablehq/plot').PlotOptions;
type PlotScale = import('@observablehq/plot').Scale & { apply(value: any): number };
type Markish = import('@observablehq/plot').Markish;
type RenderFunction = import('@observablehq/plot').RenderFunction;
type LineOptions = import('@observablehq/plot').LineOptions;
type TimeChart = import('uplot') & { lines: Line[] };
type TimeSeries = import('uplot').Series;
type AlignedData = import('uplot').AlignedData;
type Drawing = SVGSVGElement & import('@observablehq/plot').Plot;

/** A row of a table: numbers stay numbers, "" is null. */
type Row = Record<string, any>;
/** Rows by columns, as encode.py packs them. */
interface Table { n: number; columns: Record<string, any> }

interface Metric { column: string; label: string; short?: string; unit?: string; better?: string }
interface Level { name: string; label?: string; value?: string | number | null }
interface Factor { name: string; label: string; unit?: string; levels: Level[] }
interface Arm {
  name: string; label?: string; group?: string; protocol?: string; server?: string; client?: string; congestion_control?: string;
  connection?: string; options?: Record<string, any>; own_options?: Record<string, any>;
}
interface Cell { name: string; levels: Record<string, string>; values: Record<string, any>; link?: Record<string, any>; workload?: any; clock?: string }
type Chosen = string[] | Record<string, any>;
interface Figure {
  name: string; kind: string; title?: string; paper?: string; caption?: string; cells?: Chosen; arms?: string[] | 'all'; metric?: Metric; x?: string;
  facet?: string | string[]; rows?: string[]; columns?: string[]; pairs?: [string, string][]; silent_percent?: number; path?: string;
}
interface Check { quantity: string; direction?: string; asked: number; measured: number; low?: number; high?: number; tolerance?: number; n?: number; verdict: string }
interface Link { name: string; link: Record<string, any>; checks: Check[]; backend?: string; backend_version?: string }

/** What the first page knows of a study. */
interface Head {
  study: string; title: string; question?: string; paper?: Record<string, any>; scale: string; seed: number; repetitions: number; timeout_s: number; fixed?: Record<string, any>;
  metric: Metric; measured: string[]; planned: number; arms: number; states: Record<string, number>; times: number[]; machines: string[]; clocks: string[];
  disturbed: number; seconds: number; claims: Table;
}
interface Study extends Head {
  factors: Factor[]; plan_cells: Cell[]; cell_names: string[]; plan_arms: Arm[]; comparison: { arms: string[]; pairs: [string, string][]; metric: Metric };
  figures: Figure[]; differences: Row[]; medians: string[]; runs: Table; protocols: Table; links: Link[]; tables: Record<string, Table>;
  summaryIndex?: Map<string, Row>; comparisonIndex?: Map<string, Row>;
}
/** A study as the list of claims asks for it. */
interface Named { name: string; knows(cell: string): boolean }
interface CellPage { name: string; runs: Table; detailed: number[]; tables: Record<string, number[]>; calibration: Link | null }
/** Of a load what load.py found. */
interface Detail {
  objects?: Table; series?: Table; packets?: Table; window?: Table; transport?: Table; handshake?: Table; frames?: Table;
  meta?: Record<string, any>; logs?: Record<string, string>; files?: [string, number][]; [table: string]: any;
}
interface Loaded { row: Row; detail: Detail }

/** Of place.js: what figures are below, whether run folders are there, and of an archive where and how they are made again. */
interface Place { published: string; runs: boolean; again?: string; anew?: string }
interface Route { parts: string[]; choices: Record<string, string> }
type Properties = Record<string, unknown>;
/** Nodes, texts, and lists of them; null and false are nothing. */
type Child = Node | string | number | false | null | undefined | Child[];
/** From and to, or x and y. */
type Pair = [number, number];
/** `names` are texts of ticks, cut at their end or as `cut` says; `bare`: without lines of a grid. */
interface Axis {
  domain: Pair; label?: string; log?: boolean; names?: Record<string, string> | null; ticks?: number[]; bare?: boolean; cut?: 'ellipsis-start';
}
interface Chart { label: string; width: number; height: number; left?: number; x: Axis; y: Axis; marks: Markish[] }
type MarkName = 'circle' | 'square' | 'diamond' | 'triangle';
interface Entry { label: string; colour: string; mark?: MarkName; edge?: boolean; opacity?: number; href?: string }
/** Where a point is in the numbers of its axes, how it looks, and where it leads. */
interface Point {
  x: number; y: number; mark?: MarkName; size: number; colour: string; hollow?: boolean; edge?: string | null; href(): string; title(): string;
}
interface CurvePoint { cell: Cell; x: number; row: Row }
interface BarRow { cell: Cell; panel: string; bar: string; arm: string; row: Row }
interface Panel { title: Child; content: Node }
interface Part { name: string; label: string; share: number; colour: string }
interface Bar { title: Child; parts: Part[]; note: Child }
interface Tile {
  text: string; title: string; value?: number; difference?: number; significant?: boolean; mark?: string;
  state?: string; decided?: boolean; side?: string; share?: number;
}
/** A distribution of one arm in one cell. */
interface Curve { cell: string; arm: string; n: number; points: Pair[] }
/** A load that a figure of details shows, with its rows of a table. */
interface Shown { cell: string; arm: string; row: Row; items: Row[] }
/** Packets that are one arrow: milliseconds at both ends. */
interface Flight { up: boolean; label: string; packets: number; bytes: number; client: number; server: number }
interface Heat { a: string; b: string; metric: string; x: string; y: string; factors: string[] }
interface Deviation { link: Link; check: Check; deviation: number | null; from: number | null; to: number | null }
interface Agreement { cell: Cell; arm: Arm; place: string; cost: number | null; clients: number; percent: number | null }
interface Timed { row: Row; x: number; y: number }
/** A node of tree.csv. */
interface Split { children: Split[]; [column: string]: any }
interface Line { name?: string; label?: string; colour?: string; dashed?: boolean; beside?: boolean; points: Pair[] }

/** A column of a table that can be sorted: what it is sorted and found by, and what it shows if that is more. */
interface DataColumn<R> { name: string; head: string; value(row: R): string | number | null | undefined; cell?(row: R): Child }
type TableRow<R> = import('@tanstack/table-core').Row<R>;
interface HeadCell { text: Child; properties: Properties }
type GridLine = Child[] | { properties: Properties; cells: Child[] };

interface ParentNode {
  querySelector<E extends HTMLElement = HTMLElement>(selectors: string): E | null;
}
