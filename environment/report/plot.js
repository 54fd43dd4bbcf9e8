// Of Observable Plot what the report's drawings are made of.
export {
  areaY, axisX, axisY, dot, frame, gridX, gridY, line, link, plot, rect, ruleX, ruleY, text,
} from '@observablehq/plot';
