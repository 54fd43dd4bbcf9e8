four <- c("a-h3", "a-h2", "b-h3", "b-h3-other")

test_that("tables are found beside a cell's and beside a study's table of runs, and loads that failed are left out", {
  study <- server_study(kind = "bytes", cells = list(CELL))
  series <- of_arms(four, function(arm, repetition) list(time_s = c(0, 1), received_bytes = 0, acknowledged_bytes = c(0, 1e6)), 0:1)
  runs <- simulate_runs(study, 3L)
  runs <- spoil(runs, which(runs$cell == CELL & runs$arm == "a-h3" & runs$repetition == 0L))
  path <- write_cell(study, list(series = series), runs)
  rows <- details_of_figure(study$figures[[1]], study, data_at(study, path), "series", four)
  expect_equal(unique(rows$repetition[rows$arm == "a-h3"]), 1L)
  expect_equal(unique(rows$repetition[rows$arm == "a-h2"]), 0L)
  expect_equal(nrow(rows), 8)
  whole <- paste0(dirname(path), ".csv")
  file.copy(path, whole)
  expect_equal(nrow(read_details(whole, "series", study)), 16)
  expect_equal(nrow(read_details(path, "frames", study)), 0)
})

test_that("a table of details without its keys is refused", {
  study <- server_study(kind = "bytes")
  path <- write_cell(study, list(series = data.table::data.table(time_s = 1)))
  expect_error(read_details(path, "series", study), "has no column 'arm'")
})

test_that("every figure of details says so where there are none, without a warning", {
  for (kind in c("bytes", "handshake", "window", "frames", "streams", "share", "transfer")) {
    study <- server_study(kind = kind, cells = list(CELL), path = "/main.png")
    path <- write_cell(study, list())
    expect_silent(picture <- picture_of(study, path))
    expect_match(picture, "without the tables of single loads")
    empty <- write_cell(study, list(), pick(simulate_runs(study, 1L), 0L))
    unlink(empty)
    expect_error(picture_of(study, empty), "no such file")
  }
})

test_that("acknowledged bytes overlay the protocols of a server, and arms where one protocol is there twice", {
  study <- server_study(kind = "bytes", cells = list(CELL), arms = list("a-h3", "a-h2"))
  series <- of_arms(four, function(arm, repetition) {
    list(time_s = c(0, if (arm == "a-h3") 20 else 1), received_bytes = 0, acknowledged_bytes = c(0, 1e6))
  })
  path <- write_cell(study, list(series = series))
  expect_silent(picture <- picture_of(study, path))
  expect_match(picture, "HTTP/3")
  expect_match(picture, "Acknowledged bytes \\(MB\\)")
  other <- server_study(kind = "bytes", cells = list(CELL), arms = as.list(four))
  expect_match(picture_of(other, path), "B, H3 \\(other\\)")
  expect_match(picture_of(other, path), "The time axes differ")
})

test_that("packets that follow each other closely are one flight; the server's end is half an RTT away", {
  study <- server_study(kind = "handshake", cells = list(CELL), arms = list("a-h3"))
  packets <- of_arms("a-h3", function(arm, repetition) {
    list(
      time_s = c(0, 0.02, 0.0205, 0.021, 0.05), direction = c("up", "down", "down", "up", "up"), bytes = c(1200, 1200, 300, 80, 0),
      label = c("Initial", "Handshake", "Handshake", "1-RTT", "1-RTT")
    )
  })
  path <- write_cell(study, list(handshake = packets))
  rows <- details_of_figure(study$figures[[1]], study, data_at(study, path), "handshake", "a-h3")
  flights <- packet_flights(rows, link_rtt(study))
  expect_equal(flights$text, c("Initial, 1200 B", "Handshake \u00d72, 1500 B", "1-RTT, 80 B", "1-RTT"))
  expect_equal(flights$from_ms, c(0, 10, 21, 50))
  expect_equal(flights$to_ms, c(10, 20, 31, 60))
  expect_match(picture_of(study, path), "Handshake \u00d72")
})

test_that("labels that would cover each other move down, and no others", {
  flights <- data.frame(client_ms = c(0, 1, 50, 0), panel = c("a", "a", "a", "b"))
  expect_equal(spread_labels(flights, 5), c(0, 5, 50, 0))
})

test_that("the window is the log's, bytes in flight and rate the capture's", {
  study <- server_study(kind = "window", cells = list(CELL), arms = list("a-h3", "a-h2"))
  window <- of_arms(c("a-h3", "a-h2"), function(arm, repetition) {
    list(
      time_s = c(0.1, 0.2), cwnd_bytes = c(if (arm == "a-h3") 15000 else NA, NA), bytes_in_flight = c(999, 7000),
      delivery_rate_mbit = c(NA, 5), source = c("qlog", "capture")
    )
  })
  path <- write_cell(study, list(window = window))
  rows <- details_of_figure(study$figures[[1]], study, data_at(study, path), "window", c("a-h3", "a-h2"))
  points <- window_points(rows)
  expect_equal(points$value[points$arm == "a-h3"], c(15, 7, 5))
  expect_equal(points$value[points$arm == "a-h2"], c(7, 5))
  expect_match(picture_of(study, path), "No log of a window: A, H2")
})

test_that("the sender's estimate is what its log has of it: the delivery rate, or else the pacing rate", {
  study <- server_study(kind = "window", cells = list(CELL), arms = list("a-h3", "a-h2", "b-h3"))
  window <- of_arms(c("a-h3", "a-h2", "b-h3"), function(arm, repetition) {
    told <- c("a-h3" = 8, "a-h2" = NA, "b-h3" = 0)[[arm]]
    list(
      time_s = c(0.1, 0.2), cwnd_bytes = c(15000, NA), bytes_in_flight = c(NA, 7000), delivery_rate_mbit = c(told, 5),
      pacing_rate_mbit = c(if (arm == "a-h2") NA else 11, NA), source = c("qlog", "capture")
    )
  })
  path <- write_cell(study, list(window = window))
  rows <- details_of_figure(study$figures[[1]], study, data_at(study, path), "window", c("a-h3", "a-h2", "b-h3"))
  points <- window_points(rows)
  estimates <- pick(points, points$quantity == WINDOW_QUANTITIES[["estimate_mbit"]])
  expect_equal(stats::setNames(estimates$value, as.character(estimates$arm)), c("a-h3" = 8, "b-h3" = 11))
  expect_equal(estimates$by, c("delivery_rate_mbit", "pacing_rate_mbit"))
  picture <- picture_of(study, path)
  expect_match(picture, "the delivery rate of the log, of A, H3")
  expect_match(picture, "the pacing rate of the log, which has no other, of B, H3")
})

pieces <- function(arms) {
  of_arms(arms, function(arm, repetition) {
    list(
      sent_s = if (arm == "a-h2") NA else c(0.3, 0.1, 0.2, 0), time_s = c(0.4, 0.2, 0.3, 0.1), stream = c(4, 4, 0, 3),
      path = c("/b.png", "/b.png", "/a.css", NA), offset = 0, bytes = 10, lost = FALSE
    )
  })
}

test_that("streams are numbered in the order of sending, of arrival over TCP, without those of no resource", {
  study <- server_study(kind = "streams", cells = list(CELL), arms = list("a-h3", "a-h2"))
  path <- write_cell(study, list(frames = pieces(c("a-h3", "a-h2"))))
  rows <- named_pieces(details_of_figure(study$figures[[1]], study, data_at(study, path), "frames", c("a-h3", "a-h2")))
  numbered <- number_streams(rows)
  expect_equal(numbered$stream_number, c(1, 2, 1, 1, 2, 1))
  expect_equal(numbered$number, c(1, 2, 3, 1, 2, 3))
  expect_match(picture_of(study, path), "order of sending")
})

test_that("frames are drawn per resource", {
  study <- server_study(kind = "frames", cells = list(CELL), arms = list("a-h3", "a-h2"))
  picture <- picture_of(study, write_cell(study, list(frames = pieces(c("a-h3", "a-h2")))))
  expect_match(picture, "a.css")
  expect_match(picture, "A, H2")
  expect_equal(short_paths(c("/x/abc.png", "/", "/a-very-long-name-of-a.png")), c("abc.png", "/", "a-very-long-name-\u2026"))
})

test_that("resources are counted by protocol over all loads", {
  study <- server_study(kind = "share", cells = list(CELL), arms = list("a-h3", "a-h2"))
  objects <- of_arms(c("a-h3", "a-h2"), function(arm, repetition) {
    list(
      path = c("/", "/a", "/b", "/c"), bytes = 1, start_s = 0, first_byte_s = 0, end_s = 1,
      protocol = c("h2", rep(sub("a-", "", arm), 3))
    )
  }, 0:2)
  path <- write_cell(study, list(objects = objects))
  rows <- details_of_figure(study$figures[[1]], study, data_at(study, path), "objects", c("a-h3", "a-h2"), first = FALSE)
  rows$panel <- "p"
  shares <- protocol_shares(rows)
  expect_equal(shares$share[shares$arm == "a-h3" & shares$protocol == "h3"], 0.75)
  expect_equal(shares$resources, c(12L, 12L, 12L))
  expect_match(picture_of(study, path), "75 % of 12")
})

test_that("an object's transfer is drawn from medians", {
  study <- server_study(kind = "transfer", cells = list(CELL), arms = list("a-h3", "a-h2"), path = "/main.png")
  objects <- of_arms(c("a-h3", "a-h2"), function(arm, repetition) {
    list(
      path = c("/", "/main.png"), bytes = 1, start_s = c(0, 0.1), first_byte_s = c(0, NA), end_s = c(0.1, 1 + repetition),
      protocol = "h3"
    )
  }, 0:2)
  path <- write_cell(study, list(objects = objects))
  rows <- details_of_figure(study$figures[[1]], study, data_at(study, path), "objects", c("a-h3", "a-h2"), first = FALSE)
  times <- transfer_times(pick(rows, rows$path == "/main.png"))
  expect_equal(times$end, c(2, 2))
  expect_equal(times$first, c(0.1, 0.1))
  expect_match(picture_of(study, path), "n = 3 loads")
  expect_error(picture_of(server_study(kind = "transfer"), path), "has no 'path'")
})
